/** app://sluice: the window's files, without a server and without file:// rights. */
import { protocol } from 'electron'
import { findFile, pageHeaders } from '#electron/server/files.ts'
import { APP_SCHEME, isOurs } from './origin.ts'

/** Declares the scheme; only possible before the app is ready. */
export function declareScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: APP_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

/** Answers one request for a page of ours out of `webRoot`. */
export async function answer(webRoot: string, request: Pick<Request, 'url' | 'method'>): Promise<Response> {
  const headers = pageHeaders("'none'") // the contract goes through a MessagePort: the page itself talks to nobody
  if (!isOurs(request.url)) return new Response(null, { status: 403, headers })
  if (request.method !== 'GET') return new Response(null, { status: 405, headers })
  const found = await findFile(webRoot, new URL(request.url).pathname)
  if (found.status !== 200) return new Response(null, { status: found.status, headers })
  return new Response(found.body, { status: 200, headers: { ...headers, 'content-type': found.type } })
}

/** Serves `webRoot` under the scheme. */
export function serveScheme(webRoot: string): void {
  protocol.handle(APP_SCHEME, (request) => answer(webRoot, request))
}
