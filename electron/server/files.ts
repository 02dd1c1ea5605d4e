/** Files of the window: those that both shells may serve from out/renderer, and their headers. */
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, resolve, sep } from 'node:path'

/** Closed list: files of other types are not served. */
const MIME: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Content security policy of the page; `connect` is an additional connection target: 'none' in the desktop shell. */
export const contentPolicy = (connect: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'", // Vue and the charts set positions in style attributes
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${connect}`,
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Headers of every response of either shell. */
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

/** A file to send, or an error status: 403 outside the folder, 404 missing or of an unknown type. */
export type Found =
  { readonly status: 200; readonly type: string; readonly body: Buffer<ArrayBuffer> } | { readonly status: 403 | 404 }

/**
 * Reads the file at a URL's path under `webRoot`; `/` is index.html. A path that leaves the folder, by dots, encoding or a link,
 * yields 403.
 */
export async function findFile(webRoot: string, pathname: string): Promise<Found> {
  let path: string
  try {
    path = decodeURIComponent(pathname === '/' ? '/index.html' : pathname)
  } catch {
    return { status: 403 }
  }
  // On Windows a colon denotes a drive or an alternate data stream.
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
