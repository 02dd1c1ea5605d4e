/** The window's files: what both shells may serve from out/renderer, and under which headers. */
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, resolve, sep } from 'node:path'

/** Closed list: a file of any other kind is not served. */
const MIME: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** The page's policy; `connect` is where it may talk to besides: 'none' in the desktop shell. */
export const contentPolicy = (connect: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'", // Vue and the charts place things by style attributes
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${connect}`,
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Headers of every answer of either shell. */
export const pageHeaders = (connect: string): Record<string, string> => ({
  'content-security-policy': contentPolicy(connect),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
})

/** A file to send, or the status that says why not: 403 outside the folder, 404 not there or not of a known kind. */
export type Found =
  { readonly status: 200; readonly type: string; readonly body: Buffer<ArrayBuffer> } | { readonly status: 403 | 404 }

/**
 * Reads the file that a URL's path names under `webRoot`; `/` is index.html.
 * A path that leaves the folder, by dots, by encoding or by a link, is answered 403.
 */
export async function findFile(webRoot: string, pathname: string): Promise<Found> {
  let path: string
  try {
    path = decodeURIComponent(pathname === '/' ? '/index.html' : pathname)
  } catch {
    return { status: 403 }
  }
  // A colon names a drive or another stream of a file where Windows reads it.
  if (/[\0\\:]/.test(path)) return { status: 403 }
  const root = resolve(webRoot)
  const wanted = join(root, path)
  if (!wanted.startsWith(root + sep)) return { status: 403 }
  const type = MIME[extname(wanted)]
  if (type === undefined) return { status: 404 }
  try {
    const file = await realpath(wanted)
    if (!file.startsWith((await realpath(root)) + sep)) return { status: 403 }
    return { status: 200, type, body: await readFile(file) }
  } catch {
    return { status: 404 }
  }
}
