# One image for the API, the workers and the migrations: docker build -t tempost .
# The API is what it runs by default: docker run tempost
# A worker: docker run tempost node build/run.ts activities/worker.ts

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node build/main.ts

# Most packages are in the bundle. Temporal's core is compiled for five platforms; one is needed.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY build ./build
RUN node build/packages.ts \
 && npm install --omit=dev --ignore-scripts --no-audit --no-fund \
 && case "$(uname -m)" in aarch64) cpu=aarch64 ;; *) cpu=x86_64 ;; esac \
 && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$cpu-unknown-linux-gnu" -exec rm -r {} +

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
RUN mkdir /data && chown node:node /data
COPY package.json ./
COPY build ./build
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=5s --start-period=20s --retries=12 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "build/run.ts", "api/main.ts"]
