/** One loopback server: the GUI's files over HTTP, the RPC contract over WebSocket at /rpc?token=…. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { RPCHandler } from '@orpc/server/websocket';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { AppError } from '#shared/errors.ts';
import type { App } from '#core/app.ts';
import { hostAllowed, originAllowed, securityHeaders, tokenMatches } from './guard.ts';
import { sendBuilding, sendStatic, sendText } from './static-files.ts';

export interface ServeOptions {
  app: App;
  /** 0: any free port. */
  port: number;
  /** Folder of the built GUI, or of one that is still being built; null serves RPC only. */
  files: string | null | Promise<string>;
}

export interface RunningServer {
  readonly port: number;
  readonly token: string;
  /** To open in a browser; the token is in the fragment, which is never sent or logged. */
  readonly url: string;
  close(): Promise<void>;
}

/** The largest legal message is a run's YAML (1 MB); a larger frame closes the connection. */
const largestMessageBytes = 4 * 1024 * 1024;
const mostConnections = 128;

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function refusal(request: IncomingMessage, port: number, token: string): string | null {
  if (!hostAllowed(request.headers, port) || !originAllowed(request.headers, port)) return '403 Forbidden';
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (url.pathname !== '/rpc') return '404 Not Found';
  return tokenMatches(url.searchParams.get('token'), token) ? null : '401 Unauthorized';
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
  } catch (cause) {
    const message = `Port ${String(port)} on 127.0.0.1 cannot be used (${(cause as Error).message}). Choose another with --port, or leave it out for a free one.`;
    throw new AppError({ code: 'CONFLICT', message, cause });
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

export async function serve({ app, port: wantedPort, files }: ServeOptions): Promise<RunningServer> {
  const token = randomBytes(32).toString('base64url');
  let port = wantedPort;
  let folder = typeof files === 'string' ? files : null;
  // Whoever builds hears of a failure; here the page stays away.
  Promise.resolve(files).then(
    (built) => (folder = built),
    () => undefined,
  );
  const http = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000 }, (request, response) => {
    for (const [name, value] of Object.entries(securityHeaders(port))) response.setHeader(name, value);
    if (!hostAllowed(request.headers, port)) sendText(response, 403, 'Wrong Host header.');
    else if (files === null) sendText(response, 404, 'This host serves RPC only.');
    else if (folder === null) sendBuilding(response);
    else sendStatic(folder, request, response).catch(() => response.destroy());
  });
  http.maxConnections = mostConnections;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestMessageBytes });
  const handler = new RPCHandler(app.router);

  // Not `upgrade` of the handler for ws, which prints what it cannot read, stack and all. One line a connection, so that no client
  // can fill the log.
  function carry(connection: WebSocket): void {
    // The handler sends through it and knows the connection by it; it listens itself only after its own `upgrade`.
    const peer: Parameters<typeof handler.close>[0] = {
      send: (data) => connection.send(data as string | Uint8Array),
      addEventListener: () => undefined,
    };
    let complained = false;
    connection.on('message', (data: Buffer, isBinary) => {
      const message = isBinary ? new Uint8Array(data).buffer : data.toString('utf8');
      handler.message(peer, message).catch((thrown: unknown) => {
        if (complained) return;
        complained = true;
        app.services.log.warn({ reason: (thrown as Error).message.slice(0, 200) }, 'message-unreadable');
      });
    });
    connection.on('close', () => handler.close(peer));
  }

  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    let reason: string | null = '400 Bad Request';
    try {
      reason = refusal(request, port, token);
    } catch {
      // An unreadable address stays a bad request.
    }
    if (reason !== null) {
      refuse(socket, reason);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      connection.on('error', () => connection.terminate());
      carry(connection);
    });
  });
  port = await listen(http, wantedPort);
  return {
    port,
    token,
    url: `http://127.0.0.1:${String(port)}/#token=${token}`,
    async close() {
      for (const connection of sockets.clients) connection.terminate();
      sockets.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
