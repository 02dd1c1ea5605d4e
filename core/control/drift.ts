/** Configuration drift between servers. */
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { disagreements } from './queue-list.ts'
import { counted, listed } from './sentence.ts'
import { cptsOf, DEFAULT_RULE, headOf, isSameHead, QUEUES, writtenRules, type ServerRules } from './server-rules.ts'

/** One difference between servers that should have the same rules. */
export interface Drift {
  readonly kind: 'type' | 'missing' | 'rate' | 'conditions' | 'order' | 'cpts'
  /** Empty if not about one rule. */
  readonly rule: string
  readonly queue: Queue
  /** Servers that differ from the majority. */
  readonly servers: readonly string[]
  readonly text: string
}

interface Head {
  readonly server: string
  readonly lines: readonly RuleLine[]
  readonly byName: ReadonlyMap<string, RuleLine>
}

/** Groups servers by a value, the largest group first; ties in the order of the servers. */
function groups<T>(all: readonly { server: string; value: T }[]): { value: T; servers: string[] }[] {
  const out = new Map<T, string[]>()
  for (const { server, value } of all) out.set(value, [...(out.get(value) ?? []), server])
  return [...out].map(([value, servers]) => ({ value, servers })).sort((a, b) => b.servers.length - a.servers.length)
}

function typeDrift(servers: readonly ServerRules[], queue: Queue): Drift[] {
  const typeText = (type: string | undefined): string =>
    type === undefined ? 'no TBF' : type === '' ? 'generic tbf' : `tbf ${type}`
  const [most, ...rest] = groups(servers.map((s) => ({ server: s.server, value: typeText(s.tbf[queue]) })))
  return rest.map(({ value, servers: on }) => {
    const text = `${listed(on)} ${on.length === 1 ? 'runs' : 'run'} ${value} on ${queue}, ${most?.value ?? ''} elsewhere`
    return { kind: 'type', rule: '', queue, servers: on, text }
  })
}

function ruleDrift(rule: string, queue: Queue, heads: readonly Head[]): Drift[] {
  const lines = heads.map(({ server, byName }) => ({ server, line: byName.get(rule) }))
  const missing = lines.filter((l) => !l.line).map((l) => l.server)
  if (missing.length > 0) {
    const on = heads.length - missing.length
    const text = `${rule} is on ${on} of ${counted(heads.length, 'server')}, not on ${listed(missing)}`
    return [{ kind: 'missing', rule, queue, servers: missing, text }]
  }
  return (['conditions', 'rate'] as const).flatMap((kind) => {
    const [most, ...rest] = groups(lines.map(({ server, line }) => ({ server, value: line?.[kind] })))
    return rest.map(({ value, servers }) => ({
      kind,
      rule,
      queue,
      servers,
      text: `${rule} has ${kind} ${value ?? ''} on ${listed(servers)}, ${most?.value ?? ''} elsewhere`,
    }))
  })
}

function orderDrift(names: readonly string[], queue: Queue, heads: readonly Head[]): Drift[] {
  const shared = new Set(names.filter((n) => n !== DEFAULT_RULE && heads.every((h) => h.byName.has(n))))
  const order = (h: Head): string =>
    h.lines
      .map((r) => r.name)
      .filter((n) => shared.has(n))
      .join(' ')
  const [most, ...rest] = groups(heads.map((h) => ({ server: h.server, value: order(h) })))
  const usual = most?.value.split(' ') ?? []
  return rest.map(({ value, servers }) => {
    const here = value.split(' ')
    const rule = here[here.findIndex((n, i) => n !== usual[i])] ?? ''
    const behind = here[here.indexOf(rule) + 1] ?? ''
    const text = `${rule} is before ${behind} on ${listed(servers)}, not elsewhere`
    return { kind: 'order', rule, queue, servers, text }
  })
}

/**
 * Returns the differences between servers: missing rules, other rates or conditions, another order, another TBF type, and CPTs of one
 * server that disagree after a command that failed midway.
 *
 * @param isPrivate  rules that are decided per server and may differ (a controller's).
 */
export function driftOf(servers: readonly ServerRules[], isPrivate: (rule: string) => boolean = () => false): Drift[] {
  const read = servers.map((s) => ({ server: s.server, rules: writtenRules(s) }))
  return QUEUES.flatMap((queue) => {
    const out = typeDrift(
      servers.filter((s) => queue === 'reg' || s.hp),
      queue,
    )
    for (const { server, rules } of read) {
      for (const { rule, text } of disagreements(rules, queue)) {
        out.push({ kind: 'cpts', rule, queue, servers: [server], text: `${server}: ${text}` })
      }
    }
    const heads: Head[] = []
    for (const { server, rules } of read) {
      const cpt = cptsOf(rules, queue)[0]
      if (cpt === undefined) continue
      const lines = headOf(rules, queue, cpt).filter((r) => !isPrivate(r.name))
      heads.push({ server, lines, byName: new Map(lines.map((r) => [r.name, r])) })
    }
    const first = heads[0]
    if (!first || heads.every((h) => isSameHead(h.lines, first.lines))) return out
    const names = [...new Set(heads.flatMap((h) => h.lines.map((r) => r.name)))]
    return [...out, ...names.flatMap((name) => ruleDrift(name, queue, heads)), ...orderDrift(names, queue, heads)]
  })
}
