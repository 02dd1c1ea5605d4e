/**
 * Head of the audit, kept apart from it: number and hash of the newest record, and of the one that is being written. It
 * exposes records that were cut off the end or appended by another program.
 *
 * It is announced before a record is committed and confirmed after, both under the store's write lock: a process that
 * is killed in between leaves an announcement, and the record either is the announced one or does not exist.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { hasCode } from '../files/faults.ts'
import { writeFileAtomic } from '../files/atomic-file.ts'

const mark = z.strictObject({ number: z.number().int().nonnegative(), hash: z.string().regex(/^[0-9a-f]{64}$/) })
const content = z.strictObject({ last: mark.nullable(), next: mark.nullable() })

export type HeadMark = z.infer<typeof mark>
export type AuditHead = z.infer<typeof content>

export interface AuditHeadStore {
  /** undefined: no head. `damaged`: the head cannot be read. */
  read(): AuditHead | undefined | 'damaged'
  write(head: AuditHead): void
}

/**
 * Head in a file beside the store, readable by its owner only, replaced atomically and on disk when `write` returns.
 */
export function headFile(path: string): AuditHeadStore {
  return {
    read: () => {
      let text: string
      try {
        text = readFileSync(path, 'utf8')
      } catch (e) {
        return hasCode(e, 'ENOENT') ? undefined : 'damaged'
      }
      try {
        const parsed = content.safeParse(JSON.parse(text))
        return parsed.success ? parsed.data : 'damaged'
      } catch {
        return 'damaged'
      }
    },
    write: (head) => writeFileAtomic(path, `${JSON.stringify(head)}\n`),
  }
}

/** Head in memory, for a store in memory. */
export function headInMemory(): AuditHeadStore {
  let head: AuditHead | undefined
  return { read: () => head, write: (h) => (head = h) }
}

const isSame = (a: HeadMark, b: HeadMark | null | undefined): boolean => a.number === b?.number && a.hash === b.hash

/**
 * Mismatch between the head and a chain that ends in `last`; undefined if they agree.
 *
 * @param last  newest record; undefined for an empty chain.
 */
export function headFault(head: ReturnType<AuditHeadStore['read']>, last: HeadMark | undefined): string | undefined {
  if (head === 'damaged') return 'the head of the audit cannot be read'
  if (head === undefined) return last && 'the head of the audit is gone'
  const known = head.last?.number ?? 0
  if (!last) return known > 0 ? `all records are gone; the newest was ${known}` : undefined
  if ((head.last && isSame(last, head.last)) || isSame(last, head.next)) return undefined
  if (last.number < known) return `the newest records are gone: it ends at ${last.number}, the newest was ${known}`
  if (last.number === known) return `record ${known} is not the one that was written`
  return `records after ${known} were added by another program`
}
