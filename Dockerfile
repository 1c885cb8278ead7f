# Not built in our CI: see docs/install.md, "Not tried yet".
FROM node:22-slim AS build
WORKDIR /src
COPY . .
RUN npx -y deno@2.9.6 task package

FROM node:22-slim
COPY --from=build /src/dist/*.tgz /tmp/quartermaster.tgz
RUN npm install -g /tmp/quartermaster.tgz \
  && npm cache clean --force \
  && rm /tmp/quartermaster.tgz \
  && install -d -o node -g node /data
# The package stays root's: the gateway can read it, but not change it.
USER node
# The gateway reads the servers from .mcp.json in this folder, if there is one.
WORKDIR /data
VOLUME /data
# Reachable from outside, so it does not start without QUARTERMASTER_ADMIN_TOKEN.
ENV QUARTERMASTER_HOST=0.0.0.0 QUARTERMASTER_PORT=3333 QUARTERMASTER_DATA_DIR=/data
EXPOSE 3333
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.QUARTERMASTER_PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["quartermaster"]
