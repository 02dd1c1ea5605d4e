/** Bytes of a bundle in order, as text for messages. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { fail, ok, type Result } from '#core/base/result.ts'

/** Size of a part; its base64 is below the contract's limit. */
export const PART_BYTES = 512 * 1024

/** Failures: BUNDLE_GONE. */
export function readParts(file: string): Result<AsyncGenerator<{ base64: string; isLast: boolean }, void, void>> {
  try {
    // An open handle stays readable even if the file is renamed.
    const handle = openSync(file, 'r')
    if (fstatSync(handle).isFile()) return ok(parts(handle))
    closeSync(handle)
  } catch {
    // Treated as missing.
  }
  return fail({
    code: 'BUNDLE_GONE',
    what: 'The bundle cannot be read',
    why: 'there is no such file',
    next: 'Name another one.',
  })
}

async function* parts(handle: number): AsyncGenerator<{ base64: string; isLast: boolean }, void, void> {
  try {
    const { size } = fstatSync(handle)
    const piece = Buffer.alloc(PART_BYTES)
    for (let at = 0; ;) {
      const n = readSync(handle, piece, 0, PART_BYTES, at)
      at += n
      const isLast = n === 0 || at >= size
      yield { base64: piece.toString('base64', 0, n), isLast }
      if (isLast) return
      await new Promise((done) => setImmediate(done))
    }
  } finally {
    closeSync(handle)
  }
}
