/** Serves the window's files at app://sluice, without a server and without file:// privileges. */
import { protocol } from 'electron'
import { findFile, pageHeaders } from '#electron/server/files.ts'
import { APP_SCHEME, isAppAddress } from './origin.ts'

/** Registers the scheme; only possible before the app is ready. */
export function declareScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: APP_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

/** Answers a request for a page out of `webRoot`. */
export async function answer(webRoot: string, request: Pick<Request, 'url' | 'method'>): Promise<Response> {
  const headers = pageHeaders("'none'") // the contract uses a MessagePort: the page itself needs no connections
  if (!isAppAddress(request.url)) return new Response(null, { status: 403, headers })
  if (request.method !== 'GET') return new Response(null, { status: 405, headers })
  const found = await findFile(webRoot, new URL(request.url).pathname)
  if (found.status !== 200) return new Response(null, { status: found.status, headers })
  return new Response(found.body, { status: 200, headers: { ...headers, 'content-type': found.type } })
}

/** Serves `webRoot` under the scheme. */
export function serveScheme(webRoot: string): void {
  protocol.handle(APP_SCHEME, (request) => answer(webRoot, request))
}
