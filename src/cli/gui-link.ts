/** The address of a host's GUI, if it shows one. Nothing heavy is imported: `npm start` asks too. */
const answersWithinMs = 3_000;
/** What `serve` answers until its GUI is built; a browser asks again by itself. */
const stillBuilding = 503;

/** A host may serve RPC only; its link would show nothing. */
export async function guiLink({ port, token }: { port: number; token: string }): Promise<string | null> {
  const url = `http://127.0.0.1:${String(port)}/`;
  const shows = await fetch(url, { signal: AbortSignal.timeout(answersWithinMs) }).then(
    ({ ok, status }) => ok || status === stillBuilding,
    () => false,
  );
  return shows ? `${url}#token=${token}` : null;
}
