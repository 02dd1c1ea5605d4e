/** Audit export as JSON lines: one record per line, the head last, so that a truncated file is detected. */
import { closeSync, openSync, readSync } from 'node:fs'
import * as z from 'zod'
import type { AuditRecord } from '../base/audit.ts'
import { followChain, type ChainVerdict } from './audit-chain.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
/** One line of a record. */
export const record = z.strictObject({
  number: z.number().int().positive(),
  atMs: z.number().int(),
  server: z.string(),
  kind: z.enum(['intent', 'outcome', 'mode']),
  text: z.string(),
  by: z
    .strictObject({
      cluster: z.string(),
      plan: z.string(),
      who: z.string(),
      login: z.string(),
      monoMs: z.number().int(),
    })
    .optional(),
  hash,
})
/** The last line. */
export const head = z.strictObject({
  head: z.strictObject({ number: z.number().int().nonnegative(), hash }).nullable(),
})

/** Longest line: a change of many commands has its texts in one record. */
const LINE_BYTES = 16 << 20

/** Lines of the records, then of the head, each with its newline. */
export function* auditLines(records: Iterable<AuditRecord>): Generator<string> {
  let last: { number: number; hash: string } | null = null
  for (const { number, atMs, server, kind, text, by, hash } of records) {
    last = { number, hash }
    yield `${JSON.stringify({ number, atMs, server, kind, text, ...(by ? { by } : {}), hash })}\n`
  }
  yield `${JSON.stringify({ head: last })}\n`
}

/** Lines of a file, bounded in length; the last one must end with a newline. */
function* linesOf(file: string): Generator<string> {
  const handle = openSync(file, 'r')
  try {
    const chunk = Buffer.alloc(1 << 16)
    let held = Buffer.alloc(0)
    for (let n = readSync(handle, chunk); n > 0; n = readSync(handle, chunk)) {
      held = Buffer.concat([held, chunk.subarray(0, n)])
      for (let at = held.indexOf(10); at >= 0; at = held.indexOf(10)) {
        yield held.toString('utf8', 0, at)
        held = held.subarray(at + 1)
      }
      if (held.length > LINE_BYTES) break
    }
    if (held.length > 0) yield held.toString('utf8')
  } finally {
    closeSync(handle)
  }
}

class BadLine extends Error {}

/** Verifies an exported audit. @throws file system errors. */
export function verifyLines(file: string): ChainVerdict {
  let count = 0
  let end: z.infer<typeof head>['head'] | undefined
  function* records(): Generator<AuditRecord> {
    for (const line of linesOf(file)) {
      if (end !== undefined) throw new BadLine('lines follow its head')
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        throw new BadLine('it is not an audit record')
      }
      const last = head.safeParse(value)
      if (last.success) {
        end = last.data.head
        continue
      }
      const r = record.safeParse(value)
      if (!r.success) throw new BadLine('it is not an audit record')
      count++
      const { by, ...rest } = r.data
      yield { ...rest, ...(by ? { by } : {}) }
    }
  }
  let verdict: ChainVerdict
  try {
    verdict = followChain(records())
  } catch (e) {
    if (!(e instanceof BadLine)) throw e
    return { records: count, bad: { number: count + 1, why: e.message }, last: undefined }
  }
  if (verdict.bad) return verdict
  const bad = (why: string): ChainVerdict => ({ ...verdict, bad: { number: verdict.records, why } })
  if (end === undefined) return bad('the file was cut: its head is missing')
  const isSame = end === null ? !verdict.last : end.number === verdict.last?.number && end.hash === verdict.last.hash
  return isSame ? verdict : bad(`the newest records are gone: its head is ${end?.number ?? 0}`)
}
