# Built for a read-only root: everything that is written lives in /var/lib/caveat (a volume).
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY requirements.lock requirements-build.lock pyproject.toml README.md LICENSE ./
COPY alembic alembic
COPY bot bot
COPY cards cards
COPY engine engine
COPY storage storage
RUN python -m venv /opt/caveat \
 && /opt/caveat/bin/pip install --no-cache-dir --require-hashes -r requirements.lock \
 && /opt/caveat/bin/pip install --no-cache-dir --require-hashes -r requirements-build.lock \
 && /opt/caveat/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
# PostgreSQL's initdb refuses a user without a name.
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/caveat caveat
COPY --from=build /opt/caveat /opt/caveat
USER caveat
WORKDIR /var/lib/caveat
VOLUME /var/lib/caveat
ENV PATH=/opt/caveat/bin:$PATH CAVEAT_HOME=/var/lib/caveat CAVEAT_HTTP_HOST=0.0.0.0 \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 9190
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:9190/healthz', timeout=2)"]
ENTRYPOINT ["caveat"]
CMD ["serve"]
