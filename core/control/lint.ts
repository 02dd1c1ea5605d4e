/** All remarks on the rules of a service, each once for all its servers. */
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { ShapeCache } from './binding.ts'
import { driftOf } from './drift.ts'
import { UNBOUND_MS, type Lint, type LintContext } from './lint-codes.ts'
import { hpLints, listLints, shaped, shadows, type ShapedRule } from './lint-list.ts'
import { liveLints, slotLints } from './lint-live.ts'
import { lintRule } from './lint-rule.ts'
import type { StartEdit } from './rule-edit.ts'
import { areAlike } from './selectors.ts'
import { duration } from './sentence.ts'
import {
  cptsOf,
  DEFAULT_RULE,
  headOf,
  headText,
  isSameHead,
  QUEUES,
  typeOn,
  writtenRules,
  type ServerRules,
} from './server-rules.ts'

/** Servers with the same rules under the same type. */
interface ServerGroup {
  readonly first: ServerRules
  readonly names: readonly string[]
  readonly heads: Readonly<Record<'reg' | 'hp', readonly ShapedRule[]>>
}

function groupServers(servers: readonly ServerRules[]): ServerGroup[] {
  const groups = new Map<string, { first: ServerRules; names: string[] }>()
  for (const s of servers) {
    const rules = writtenRules(s)
    const texts = QUEUES.map((q) => headText(headOf(rules, q, cptsOf(rules, q)[0] ?? 0)))
    const key = JSON.stringify([s.tbf, s.profile.release, s.hp, texts])
    const group = groups.get(key)
    if (group) group.names.push(s.server)
    else groups.set(key, { first: s, names: [s.server] })
  }
  return [...groups.values()].map(({ first, names }) => {
    const rules = writtenRules(first)
    const head = (queue: 'reg' | 'hp'): ShapedRule[] => {
      const type = typeOn(first, queue)
      return type ? shaped(headOf(rules, queue, cptsOf(rules, queue)[0] ?? 0), type) : []
    }
    return { first, names, heads: { reg: head('reg'), hp: head('hp') } }
  })
}

const linesOf = (rules: readonly ShapedRule[]): RuleLine[] => rules.map((r) => r.line)

/** Remarks on every rule of a group: by itself, by its list, and by the current jobs. */
function groupLints(group: ServerGroup, context: LintContext, shapes: ShapeCache): Lint[] {
  const { first, names, heads } = group
  const { service, jobs, isPrivate, isLimited, clientSlots = 8 } = context
  const isAbout = (rule: string): boolean => !isPrivate?.(rule)
  const out: Lint[] = []
  const here = (jobs ?? []).filter((j) => j.servers.some((s) => names.includes(s)))
  for (const queue of QUEUES) {
    const type = typeOn(first, queue)
    if (!type) continue
    const rules = heads[queue]
    // Queues with the same rules under the same type have the same remarks.
    if (queue === 'hp' && isSameHead(linesOf(heads.reg), linesOf(rules)) && areAlike(first)) continue
    for (const { line } of rules.filter((r) => isAbout(r.line.name))) {
      const { name, conditions, rate } = line
      out.push(
        ...lintRule(
          { verb: 'start', name, conditions, rate, realtime: first.realtime?.get(name), queue },
          first,
          service,
        ),
      )
    }
    const shadowed = shadows(rules, isAbout)
    out.push(...listLints(rules, type, shadowed, isAbout))
    if (!jobs) continue
    const head = { rules, type, jobs: here, shapes }
    out.push(...liveLints(head, isAbout, (rule) => shadowed.has(rule)))
    if (queue === 'reg' && isLimited) out.push(...slotLints(head, isAbout, isLimited, clientSlots))
  }
  if (first.hp) out.push(...hpLints(heads.reg, heads.hp, isAbout))
  return out.map((l) => ({ ...l, servers: names }))
}

function unboundLints({ servers, unboundMs, isPrivate }: LintContext): Lint[] {
  if (!unboundMs) return []
  const names = new Set(servers.flatMap((s) => s.rules.map((r) => r.name)))
  const out: Lint[] = []
  for (const rule of names) {
    const ms = rule === DEFAULT_RULE || isPrivate?.(rule) ? undefined : unboundMs(rule)
    if (ms === undefined || ms <= UNBOUND_MS) continue
    out.push({
      code: 'UNBOUND',
      level: 'watch',
      rule,
      text: `no class for ${duration(ms)}: no incoming RPC matches it`,
    })
  }
  return out
}

const DRIFT_CODES = {
  type: 'TYPES_DIFFER',
  missing: 'NOT_EVERYWHERE',
  rate: 'DIFFERS',
  conditions: 'DIFFERS',
  order: 'DIFFERS',
  cpts: 'CPTS_DISAGREE',
} as const

const driftLints = ({ servers, isPrivate }: LintContext): Lint[] =>
  driftOf(servers, isPrivate).map((d) => ({
    code: DRIFT_CODES[d.kind],
    level: 'watch',
    rule: d.rule,
    text: d.queue === 'hp' && d.kind !== 'cpts' && d.kind !== 'type' ? `hp: ${d.text}` : d.text,
    servers: d.servers,
  }))

/** Merges the same remark for several servers, or both queues; servers are named unless it applies to all of them. */
function merge(lints: readonly Lint[], all: number): Lint[] {
  const out = new Map<string, { lint: Lint; servers: Set<string> }>()
  for (const lint of lints) {
    const key = JSON.stringify([lint.code, lint.rule, lint.text])
    const have = out.get(key) ?? { lint, servers: new Set<string>() }
    for (const s of lint.servers ?? []) have.servers.add(s)
    out.set(key, have)
  }
  return [...out.values()].map(({ lint: { code, level, rule, text }, servers }) => {
    const isSome = servers.size > 0 && servers.size < all
    return { code, level, rule, text, ...(isSome ? { servers: [...servers] } : {}) }
  })
}

const ORDER = { bad: 0, watch: 1, info: 2 } as const

/** Returns the remarks on the current rules, or on the rules after a plan; most severe first. */
export function lintRules(context: LintContext): Lint[] {
  const shapes = new ShapeCache()
  const found = [
    ...groupServers(context.servers).flatMap((g) => groupLints(g, context, shapes)),
    ...driftLints(context),
    ...unboundLints(context),
  ]
  return merge(found, context.servers.length).sort((a, b) => ORDER[a.level] - ORDER[b.level])
}

/** Returns the remarks on a single draft, including one that a server would refuse and that no plan contains. */
export function lintDraft(draft: StartEdit, context: Pick<LintContext, 'servers' | 'service'>): Lint[] {
  const found = context.servers.flatMap((s) =>
    lintRule(draft, s, context.service).map((l) => ({ ...l, servers: [s.server] })),
  )
  return merge(found, context.servers.length).sort((a, b) => ORDER[a.level] - ORDER[b.level])
}
