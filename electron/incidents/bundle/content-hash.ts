/** SHA-256 over names and hashes of members in name order: equal for equal content, whenever it was written. */
import { createHash } from 'node:crypto'
import { byCodeUnit } from '#core/base/order.ts'

export function contentHash(members: readonly { readonly name: string; readonly sha256: string }[]): string {
  const hash = createHash('sha256')
  for (const m of [...members].sort((a, b) => byCodeUnit(a.name, b.name))) hash.update(`${m.sha256}  ${m.name}\n`)
  return hash.digest('hex')
}
