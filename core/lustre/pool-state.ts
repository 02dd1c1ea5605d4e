/**
 * `ldlm.namespaces.*.pool.state`: the lock pool of a namespace, printed and parsed.
 *
 * Source: spec/lustre 5.2, measured A17: a server's namespace also prints GSP and GP, a client's does not.
 */
import type { ByteText, SkippedLine } from './text.ts'

export interface PoolState {
  /** `ldlm-pool-NAMESPACE-INDEX`; the index counts the pools of servers and, separately, those of clients. */
  readonly pool: string
  /** Server lock volume. */
  readonly slv: number
  /** Client lock volume. */
  readonly clv: number
  /** Lock volume factor, percent. */
  readonly lvf: number
  /** Grant step, percent, and grant plan, locks: only in server namespaces. */
  readonly plan: { readonly gsp: number; readonly gp: number } | undefined
  /** Locks granted per second. */
  readonly gr: number
  /** Locks canceled per second. */
  readonly cr: number
  /** Difference of the two. */
  readonly gs: number
  /** Locks granted. */
  readonly granted: number
  /** Maximum of granted locks. */
  readonly limit: number
}

/** Formats the value of pool.state. */
export function formatPoolState(s: PoolState): string {
  const plan = s.plan ? `  GSP: ${s.plan.gsp}%\n  GP:  ${s.plan.gp}\n` : ''
  return (
    `LDLM pool state (${s.pool}):\n  SLV: ${s.slv}\n  CLV: ${s.clv}\n  LVF: ${s.lvf}\n${plan}` +
    `  GR:  ${s.gr}\n  CR:  ${s.cr}\n  GS:  ${s.gs}\n  G:   ${s.granted}\n  L:   ${s.limit}\n`
  )
}

const FIELD = /^ {2}(SLV|CLV|LVF|GSP|GP|GR|CR|GS|G|L): +(-?\d+)%?$/

/** Parses pool.state; undefined if the name or a field of a client's pool is missing. Unknown lines are reported. */
export function parsePoolState(text: ByteText): {
  readonly state: PoolState | undefined
  readonly skipped: readonly SkippedLine[]
} {
  const skipped: SkippedLine[] = []
  const fields = new Map<string, number>()
  let pool: string | undefined
  text.split('\n').forEach((line, i) => {
    if (line === '') return
    const head = /^LDLM pool state \((.+)\):$/.exec(line)
    const field = FIELD.exec(line)
    if (head) pool = head[1]
    else if (field) fields.set(field[1] as string, Number(field[2]))
    else skipped.push({ line: i + 1, reason: 'not a field of a pool' })
  })
  const [slv, clv, lvf, gr, cr, gs, granted, limit] = ['SLV', 'CLV', 'LVF', 'GR', 'CR', 'GS', 'G', 'L'].map((f) =>
    fields.get(f),
  )
  if (
    pool === undefined ||
    slv === undefined ||
    clv === undefined ||
    lvf === undefined ||
    gr === undefined ||
    cr === undefined ||
    gs === undefined ||
    granted === undefined ||
    limit === undefined
  ) {
    return { state: undefined, skipped }
  }
  const gsp = fields.get('GSP')
  const gp = fields.get('GP')
  const plan = gsp === undefined || gp === undefined ? undefined : { gsp, gp }
  return { state: { pool, slv, clv, lvf, plan, gr, cr, gs, granted, limit }, skipped }
}
