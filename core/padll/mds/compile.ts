/**
 * Compiles rates of jobs to rules of metadata servers: PADLL's policies as far as TBF can express them.
 *
 * A limit of one job in one scope is one sum over every place where a rule can hold a part of it: servers, services,
 * opcodes, classes on CPTs. It is split over them by observed use, so that the sum never exceeds the limit except for
 * the least rate of a rule and, while it is lowered, the largest step. Rules of one job never overlap, so their order
 * does not matter; foreign rules that precede them take their RPCs (reported).
 *
 * Source: spec/padll 5 (usage split, rate floor); spec/lustre 2.1, 2.5. Deviation: none of it is in the paper, whose
 * stages see calls; what an MDS cannot see is reported with the line of the policy.
 */
import { isMatchable, type DesiredRule } from '../../control/desired-rule.ts'
import { rateWithin, type Fences } from '../../control/fences.ts'
import type { Scope } from '../vocabulary.ts'
import { Binder } from '../../control/binding.ts'
import { isControllerRule } from '../../controllers/registry.ts'
import { headOf, typeOn, writtenRules } from '../../control/server-rules.ts'
import type { RuleLine } from '../../lustre/nrs-tbf-rule.ts'
import { sharedOperations, MDS_SCOPES, rpcOf, type MdsService } from './operations.ts'
import type { Remarks } from './remarks.ts'
import { opcodePolicy } from './service-rules.ts'
import type { JobShare } from './shares.ts'
import { isOf, type MdsServer, type ServicePlace, servicePlaces, type Spot, spotsOf } from './spots.ts'

/** One opcode of one service of one server. */
export interface Place {
  /** Recent use, op/s. */
  readonly used: number
  /** True if it ran at its limit: it may then want more than it used. */
  readonly isAtLimit: boolean
  /** Upper bound of its share, op/s; Infinity for none. */
  readonly cap: number
  /** Minimum part of the rate that stays reserved for it, 0..1. */
  readonly leastPart: number
}

/**
 * Splits a rate by observed use, as `share = rate · use / sum(use)` (spec/padll 5, split `usage`), none above its cap.
 *
 * Two bounds keep a place from starving: one that did nothing keeps its least part, and one that ran at its limit
 * counts with at least a quarter of an equal share, because its real demand is not known. Source: spec/padll 5 [R]; the
 * bounds are Sluice's: `max(1, use)` of the source would start a place at 1 op/s and let it only double each cycle.
 *
 * @param rate  op/s, >= 0.
 * @returns     op/s of each place; the sum is the rate, or the sum of the caps if that is less.
 */
export function cutByUse(rate: number, places: readonly Place[]): number[] {
  const fair = rate / Math.max(1, places.length)
  const weights = places.map((p) => Math.max(p.used, p.isAtLimit ? fair / 4 : 0, p.leastPart * rate, 1e-9))
  const shares = places.map(() => 0)
  let open = places.map((_, i) => i)
  let remaining = rate
  // A place that reaches its cap leaves the rest to the others.
  while (open.length > 0 && remaining > 0) {
    const sum = open.reduce((n, i) => n + weights[i]!, 0)
    const full = open.filter((i) => (remaining * weights[i]!) / sum >= places[i]!.cap)
    if (full.length === 0) {
      for (const i of open) shares[i] = (remaining * weights[i]!) / sum
      break
    }
    for (const i of full) {
      shares[i] = places[i]!.cap
      remaining -= places[i]!.cap
    }
    open = open.filter((i) => !full.includes(i))
  }
  return shares
}

/** Place with the number of classes that each get the rule's rate. */
interface RatedPlace {
  /** op/s, from `cutByUse`. */
  readonly share: number
  /** Number of CPTs, or of clients if each client of a job is a separate class; times the opcodes of the rule; >= 1. */
  readonly classes: number
  /** Upper bound of all its classes together, op/s; Infinity for none. */
  readonly cap: number
}

/**
 * Rounds shares to whole rates of rules: a rule's rate applies to each of its classes, so `rate * classes <= share`.
 * The rounding remainder goes to the places that lost most by it. No rule is below the least rate: where this exceeds a
 * share, the largest rates are reduced.
 *
 * @param most   largest rate that the server takes, RPC/s.
 * @param least  least rate of a rule, RPC/s, whole, >= 1.
 * @returns      RPC/s per class, whole, >= least; `sum(rate * classes) <= sum(share)` unless the least rates alone are more.
 */
export function roundRates(places: readonly RatedPlace[], most: number, least = 1): number[] {
  const rates = places.map((p) => Math.min(most, Math.max(least, Math.floor(p.share / p.classes + 1e-9))))
  const sum = places.reduce((n, p) => n + p.share, 0) + 1e-6
  let remaining = sum - places.reduce((n, p, i) => n + rates[i]! * p.classes, 0)
  while (remaining < 0) {
    const i = largest(places, (p, k) => (rates[k]! > least ? rates[k]! * p.classes : -1))
    if (i === undefined) return rates
    const { classes } = places[i]!
    const step = Math.min(rates[i]! - least, Math.max(1, Math.ceil(-remaining / classes / places.length)))
    rates[i] = rates[i]! - step
    remaining += step * classes
  }
  for (let n = 0; n < places.length; n++) {
    const canGrow = (p: RatedPlace, k: number): boolean =>
      rates[k]! < most && p.classes <= remaining && (rates[k]! + 1) * p.classes <= p.cap
    const i = largest(places, (p, k) => (canGrow(p, k) ? Math.max(0, p.share - rates[k]! * p.classes) : -1))
    if (i === undefined) break
    rates[i] = rates[i]! + 1
    remaining -= places[i]!.classes
  }
  return rates
}

/** Returns the index of the largest non-negative value; the first of equals. */
function largest(places: readonly RatedPlace[], value: (place: RatedPlace, i: number) => number): number | undefined {
  let at: number | undefined
  let best = -1
  places.forEach((p, i) => {
    const v = value(p, i)
    if (v > best) [best, at] = [v, i]
  })
  return at
}

interface Wanted {
  readonly host: string
  readonly service: MdsService
  readonly name: string
  readonly job: string
  readonly opcodes: readonly string[]
}

/**
 * Returns a function that finds a foreign rule which takes, or may take, RPCs of an existing Sluice rule: rules that
 * were started later precede it, and the first match takes an RPC.
 */
function foreignBefore(places: readonly ServicePlace[]): (wanted: Wanted) => string | undefined {
  const binders = new Map<string, { readonly binder: Binder<RuleLine>; readonly names: ReadonlySet<string> }>()
  for (const { server, service } of places) {
    const reading = { ...server.services[service], profile: server.profile }
    const type = typeOn(reading, 'reg')
    if (!type) continue
    const head = headOf(writtenRules(reading), 'reg', 0)
    if (head.every((r) => isControllerRule(r.name) || r.name === 'default')) continue
    const names = new Set(head.map((r) => r.name))
    binders.set(`${server.host}\u0000${service}`, { binder: new Binder(head, type), names })
  }
  return ({ host, service, name, job, opcodes }) => {
    const of = binders.get(`${host}\u0000${service}`)
    if (!of?.names.has(name)) return undefined
    const requests = opcodes.length > 0 ? opcodes.map((opcode) => ({ jobId: job, opcode })) : [{ jobId: job }]
    for (const request of requests) {
      const { sure, may } = of.binder.bind(request)
      const other = [...may, ...(sure ? [sure] : [])].find((r) => r.name !== name)
      if (other) return other.name
    }
    return undefined
  }
}

/** A wanted rule and its purpose. */
export interface CompiledRule extends DesiredRule {
  readonly host: string
  readonly service: MdsService
  readonly job: string
  /** Scopes of its policies, narrowest first. */
  readonly scopes: readonly Scope[]
  /** Empty for every opcode of the service. */
  readonly opcodes: readonly string[]
  /** Names of the operations that these carry. */
  readonly operations: string
  /** Sum of its rate over all classes, op/s. */
  readonly limit: number
  /** Recent rate, op/s, and whether the rule held its job back. */
  readonly used: number
  readonly isAtLimit: boolean
}

export interface CompileInput {
  readonly servers: readonly MdsServer[]
  /** Jobs with a rate, in the order of their rules. */
  readonly shares: readonly JobShare[]
  /** NIDs that a job sends from; undefined if unknown. */
  readonly clientsOf: (job: string) => number | undefined
  /** Set to keep rates in force that differ little. */
  readonly isSteady: boolean
  /** Least rate, largest step and number of rules. */
  readonly fences: Pick<Fences, 'floorRate' | 'fall' | 'rise' | 'rulesMax'>
  /** True for jobs that are never limited. */
  readonly isExempt: (job: string) => boolean
}

/**
 * Rule rate of an absent job, RPC/s. At 1 a class would wait a whole second for its first RPC while others are busy
 * (its deadline is 1/R away, spec/lustre 2.3); this admits a few operations until the cycle that they trigger.
 */
const ABSENT_RATE = 10

/** Relative change of a rate that is too small to be worth a fresh bucket for every class (measured B1). */
const DEADBAND = 0.05

export function compileRules(input: CompileInput, remarks: Remarks): CompiledRule[] {
  const { rulesMax } = input.fences
  const places = servicePlaces(input.servers)
  const before = foreignBefore(places)
  const count = new Map<string, number>()
  const out: CompiledRule[] = []
  for (const { scope, lines } of input.shares) {
    const { not } = MDS_SCOPES[scope]
    if (not !== '') remarks.add(lines, `${scope}: ${not}`)
  }
  for (const [job, shares] of byJob(input.shares)) {
    const lines = [...new Set(shares.flatMap((s) => s.lines))]
    if (!isMatchable(job)) {
      remarks.add(lines, `no rule can match ${job}: its id is too long or contains characters that rules cannot quote`)
      continue
    }
    if (input.isExempt(job)) {
      remarks.add(lines, `${job} is not limited: it is root's, or its id does not exclude that`)
      continue
    }
    const isFull = input.servers.every(({ host }) => (count.get(host) ?? 0) >= rulesMax)
    if (isFull && input.servers.length > 0) {
      remarks.add(lines, `${job} is not limited: a server takes ${rulesMax} rules of Sluice`)
      continue
    }
    const spots = spotsOfJob(job, shares, places, input, remarks)
    const rules = compileJob(job, shares, spots, input, remarks)
    for (const rule of rules) {
      const n = (count.get(rule.host) ?? 0) + 1
      if (n > rulesMax) {
        remarks.add(lines, `${job} is not limited: a server takes ${rulesMax} rules of Sluice`, rule.host)
        continue
      }
      count.set(rule.host, n)
      const other = before(rule)
      if (other !== undefined) {
        remarks.add(
          lines,
          `rule ${other} precedes Sluice's and takes RPCs of ${job}`,
          `${rule.service} of ${rule.host}`,
        )
      }
      out.push(rule)
    }
  }
  remarkCpts(out, places, remarks)
  return out
}

/** Shares by job, narrow scopes before those that contain them. */
function byJob(shares: readonly JobShare[]): Map<string, JobShare[]> {
  const jobs = new Map<string, JobShare[]>()
  for (const s of shares) {
    if (s.allocated === null) continue
    const list = jobs.get(s.job)
    if (list) list.push(s)
    else jobs.set(s.job, [s])
  }
  for (const list of jobs.values()) {
    list.sort((a, b) => MDS_SCOPES[a.scope].opcodes.length - MDS_SCOPES[b.scope].opcodes.length)
  }
  return jobs
}

/** Returns every spot of the job that one of its limits covers; reports limits without one. */
function spotsOfJob(
  job: string,
  shares: readonly JobShare[],
  places: readonly ServicePlace[],
  { clientsOf }: CompileInput,
  remarks: Remarks,
): Spot[] {
  const spots = new Map<string, Spot>()
  for (const { scope, lines } of shares) {
    const { opcodes, coversAll } = MDS_SCOPES[scope]
    for (const place of places) {
      const { server, service, support } = place
      if (!opcodes.some((o) => rpcOf(o)?.service === service)) continue
      const where = `${service} of ${server.host}`
      const found = spotsOf(place, job, clientsOf(job))
      if (typeof found === 'string') {
        remarks.add(lines, `${scope} of ${job} is not limited: ${found}`, where)
      } else if (!coversAll && support.kind === 'rules' && !support.hasOpcode) {
        const needed = opcodePolicy(server.profile)
        remarks.add(
          lines,
          `${scope} of ${job} is not limited: only rules with opcodes can do so, which need ${needed}`,
          where,
        )
      } else {
        for (const spot of found) if (isOf(spot, scope)) spots.set(`${where}\u0000${spot.name}`, spot)
      }
    }
  }
  return [...spots.values()]
}

function compileJob(
  job: string,
  shares: readonly JobShare[],
  spots: readonly Spot[],
  { isSteady, fences }: CompileInput,
  remarks: Remarks,
): CompiledRule[] {
  const rates = new Map<Spot, number>()
  const caps = new Map<Spot, number>()
  const total = (of: readonly Spot[], rate: (s: Spot) => number): number =>
    of.reduce((n, s) => n + rate(s) * s.classes, 0)
  const limits = shares.map(({ scope, allocated, lines }) => {
    const covered = spots.filter((s) => isOf(s, scope))
    // Rates on servers that cannot be changed now are already spent.
    const held = total(
      covered.filter((s) => s.isHeld),
      (s) => s.present ?? 0,
    )
    return {
      scope,
      lines,
      allocated: allocated ?? 0,
      free: covered.filter((s) => !s.isHeld),
      rate: Math.max(0, (allocated ?? 0) - held),
    }
  })
  for (const { scope, lines, allocated, free, rate } of limits) {
    if (allocated === 0) {
      for (const s of free) rates.set(s, Math.min(rates.get(s) ?? ABSENT_RATE, ABSENT_RATE))
      continue
    }
    const cut = cutByUse(
      rate,
      free.map((s) => ({ ...s, cap: caps.get(s) ?? Infinity })),
    )
    const most = Math.min(...free.map((s) => s.rateMax), Infinity)
    const rounded = roundRates(
      free.map((s, i) => ({ share: cut[i]!, classes: s.classes, cap: caps.get(s) ?? Infinity })),
      most,
      fences.floorRate,
    )
    free.forEach((s, i) => {
      rates.set(s, rounded[i]!)
      caps.set(s, rounded[i]! * s.classes)
    })
    const least = total(free, () => fences.floorRate)
    if (least > rate + 1e-6 && free.length > 0) {
      const text = `${scope} of ${job} cannot be limited to ${figure(allocated)} op/s: its rules cannot go below ${least}, ${fences.floorRate} RPC/s for each class`
      remarks.add(lines, text)
    }
    remarkShared(job, scope, lines, free, remarks)
  }
  remarkSmallest(job, shares, spots, remarks)
  const settled = isSteady ? settle(rates, limits) : rates
  let isSlowed = false
  const rules = spots.flatMap((s): CompiledRule[] => {
    const wanted = s.isHeld ? s.present : settled.get(s)
    if (wanted === undefined) return []
    const rate = s.isHeld ? wanted : rateWithin(wanted, fences, s.present, s.used)
    if (rate > wanted) isSlowed = true
    return [
      {
        host: s.host,
        service: s.service,
        name: s.name,
        conditions: s.conditions,
        rate,
        job,
        opcodes: s.opcodes,
        scopes: shares.filter(({ scope }) => isOf(s, scope)).map(({ scope }) => scope),
        operations: operationsOf(s),
        limit: rate * s.classes,
        used: s.used,
        isAtLimit: s.isAtLimit,
      },
    ]
  })
  if (isSlowed) {
    const lines = [...new Set(shares.flatMap((s) => s.lines))]
    const part = Math.round(fences.fall * 100)
    remarks.add(
      lines,
      `${job} is above its rate: a rule keeps ${part} % of its rate, or of what was served, at each step`,
    )
  }
  return rules
}

/**
 * Keeps rates in force where the difference is small: all of them if every limit still holds, else only those that
 * would rise.
 */
function settle(
  rates: ReadonlyMap<Spot, number>,
  limits: readonly { readonly free: readonly Spot[]; readonly rate: number }[],
): ReadonlyMap<Spot, number> {
  const isNear = (s: Spot, rate: number): boolean =>
    s.present !== undefined && Math.abs(rate - s.present) <= Math.max(1, DEADBAND * s.present)
  const damped = new Map([...rates].map(([s, rate]) => [s, isNear(s, rate) ? s.present! : rate]))
  const sums = (of: ReadonlyMap<Spot, number>, free: readonly Spot[]): number =>
    free.reduce((n, s) => n + of.get(s)! * s.classes, 0)
  const holds = limits.every((l) => sums(damped, l.free) <= Math.max(l.rate, sums(rates, l.free)) + 1e-6)
  if (holds) return damped
  return new Map([...rates].map(([s, rate]) => [s, isNear(s, rate) ? Math.min(rate, s.present!) : rate]))
}

function operationsOf({ opcodes, service }: Spot): string {
  if (opcodes.length === 0) return service === 'mdt' ? 'all of mdt' : 'all of mdt_readpage: close, readdir, getxattr'
  return opcodes.flatMap((o) => rpcOf(o)?.carries ?? []).join(', ')
}

/** Reports operations that share RPCs with those of a policy. */
function remarkShared(
  job: string,
  scope: Scope,
  lines: readonly number[],
  free: readonly Spot[],
  remarks: Remarks,
): void {
  const alsoLimitedBy = sharedOperations(scope)
  if (alsoLimitedBy.length === 0 || !free.some((s) => s.opcodes.length > 0)) return
  const by = MDS_SCOPES[scope].opcodes.join(' and ')
  remarks.add(lines, `${scope} of ${job} is sent as ${by}, which also limits ${alsoLimitedBy.join(', ')}`)
}

/** Reports policies on the same RPCs: the smaller rate applies to all of them. */
function remarkSmallest(job: string, shares: readonly JobShare[], spots: readonly Spot[], remarks: Remarks): void {
  const opcodes = new Set(spots.flatMap((s) => s.opcodes))
  for (const opcode of opcodes) {
    const sharing = shares.filter(
      ({ scope }) => !MDS_SCOPES[scope].coversAll && MDS_SCOPES[scope].opcodes.includes(opcode),
    )
    if (sharing.length < 2) continue
    const names = sharing.map((s) => s.scope).join(', ')
    const least = Math.min(...sharing.map((s) => s.allocated ?? Infinity))
    const lines = [...new Set(sharing.flatMap((s) => s.lines))]
    remarks.add(
      lines,
      `${names} of ${job} share ${opcode}: the smallest rate, ${figure(least)} op/s, applies to all of them together`,
    )
  }
}

/** Reports that every CPT has the whole rate of a rule, so rules carry a part of it. */
function remarkCpts(rules: readonly CompiledRule[], places: readonly ServicePlace[], remarks: Remarks): void {
  const hosts = new Set(rules.map((r) => r.host))
  for (const { server, support } of places) {
    if (support.kind === 'none' || support.isPerClient || support.cpts === 1 || !hosts.has(server.host)) continue
    remarks.add(
      [0],
      `rules carry 1/${support.cpts} of a rate, because each of ${support.cpts} CPTs applies it; a job with all its clients on one CPT gets no more`,
      server.host,
    )
  }
}

const figure = (n: number): string => String(Math.round(n * 10) / 10)

/** Rules of one service of one server in the form that a plan takes. */
export const desiredOn = (rules: readonly CompiledRule[], host: string, service: MdsService): DesiredRule[] =>
  rules
    .filter((r) => r.host === host && r.service === service)
    .map(({ name, conditions, rate }) => ({ name, conditions, rate }))
