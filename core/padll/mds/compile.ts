/**
 * From the rates of jobs to the rules of metadata servers: the policies of PADLL as far as TBF can carry them.
 *
 * A limit of one job in one scope is one sum over every place where a rule can hold a part of it: servers, services, opcodes,
 * classes on CPTs. It is cut over them by observed use, so that the sum is never above the limit but for the least rate of a
 * rule and, while it is lowered, the largest step. Rules of one job never overlap, so their order among each other says nothing; rules of anybody else
 * that stand before them take their RPCs (said).
 *
 * Source: spec/padll 5 (usage split, rate floor); spec/lustre 2.1, 2.5. Deviation: none of it is in the paper, whose stages
 * see calls; what an MDS cannot see is said with the line of the policy.
 */
import { isMatchable, type DesiredRule } from '../../control/desired-rule.ts'
import { rateWithin, type Fences } from '../../control/fences.ts'
import type { Scope } from '../vocabulary.ts'
import { cutByUse, wholeRates } from './cut.ts'
import { foreignBefore } from './foreign-rules.ts'
import { heldWith, MDS_SCOPES, rpcOf, type MdsService } from './operations.ts'
import type { Remarks } from './remarks.ts'
import { opcodePolicy } from './service-rules.ts'
import type { JobShare } from './shares.ts'
import { isOf, type MdsServer, type ServicePlace, servicePlaces, type Spot, spotsOf } from './spots.ts'

/** A rule that is wanted, and what it is for. */
export interface CompiledRule extends DesiredRule {
  readonly host: string
  readonly service: MdsService
  readonly job: string
  /** Scopes of the policies that it serves, narrowest first. */
  readonly scopes: readonly Scope[]
  /** Empty: every opcode of the service. */
  readonly opcodes: readonly string[]
  /** Operations that those carry, in words. */
  readonly operations: string
  /** op/s that its rate comes to over all its classes. */
  readonly limit: number
  /** op/s that it let through of late, and whether it held its job back. */
  readonly used: number
  readonly isAtLimit: boolean
}

export interface CompileInput {
  readonly servers: readonly MdsServer[]
  /** Jobs with a rate, in the order in which they are to have rules. */
  readonly shares: readonly JobShare[]
  /** NIDs that a job sends from; undefined where nobody tells. */
  readonly clientsOf: (job: string) => number | undefined
  /** Whether rates that differ little from those in force are left alone. */
  readonly isSteady: boolean
  /** Least rate, largest step and number of rules. */
  readonly fences: Pick<Fences, 'floorRate' | 'fall' | 'rise' | 'rulesMax'>
  /** Whether a job is never limited. */
  readonly isExempt: (job: string) => boolean
}

/**
 * Rate of the rules of a job that is not there, RPC/s. At 1 a class would wait a whole second for its first RPC while others
 * are busy (its deadline is 1/R away, spec/lustre 2.3); this is a few operations until the cycle that they start.
 */
const ABSENT_RATE = 10

/** A change within this part of the rate in force is not worth a fresh bucket for every class (measured B1). */
const DEADBAND = 0.05

export function compileRules(input: CompileInput, remarks: Remarks): CompiledRule[] {
  const { rulesMax } = input.fences
  const places = servicePlaces(input.servers)
  const before = foreignBefore(places)
  const count = new Map<string, number>()
  const out: CompiledRule[] = []
  for (const { scope, lines } of input.shares) {
    const { not } = MDS_SCOPES[scope]
    if (not !== '') remarks.say(lines, `${scope}: ${not}`)
  }
  for (const [job, shares] of byJob(input.shares)) {
    const lines = [...new Set(shares.flatMap((s) => s.lines))]
    if (!isMatchable(job)) {
      remarks.say(
        lines,
        `no rule can name ${job}: its id is too long or holds characters that rules have no quoting for`,
      )
      continue
    }
    if (input.isExempt(job)) {
      remarks.say(lines, `${job} is not held: it is root's, or its id does not exclude that`)
      continue
    }
    const isFull = input.servers.every(({ host }) => (count.get(host) ?? 0) >= rulesMax)
    if (isFull && input.servers.length > 0) {
      remarks.say(lines, `${job} is not held: a server takes ${rulesMax} rules of Sluice`)
      continue
    }
    const spots = spotsOfJob(job, shares, places, input, remarks)
    const rules = compileJob(job, shares, spots, input, remarks)
    for (const rule of rules) {
      const n = (count.get(rule.host) ?? 0) + 1
      if (n > rulesMax) {
        remarks.say(lines, `${job} is not held: a server takes ${rulesMax} rules of Sluice`, rule.host)
        continue
      }
      count.set(rule.host, n)
      const other = before(rule)
      if (other !== undefined) {
        remarks.say(
          lines,
          `rule ${other} stands before ours and takes RPCs of ${job}`,
          `${rule.service} of ${rule.host}`,
        )
      }
      out.push(rule)
    }
  }
  sayCpts(out, places, remarks)
  return out
}

/** What is to be limited, each job once, narrow scopes before those that contain them. */
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

/** Every spot of the job that one of its limits has to hold; says where there is none. */
function spotsOfJob(
  job: string,
  shares: readonly JobShare[],
  places: readonly ServicePlace[],
  { clientsOf }: CompileInput,
  remarks: Remarks,
): Spot[] {
  const spots = new Map<string, Spot>()
  for (const { scope, lines } of shares) {
    const { opcodes, isWhole } = MDS_SCOPES[scope]
    for (const place of places) {
      const { server, service, support } = place
      if (!opcodes.some((o) => rpcOf(o)?.service === service)) continue
      const where = `${service} of ${server.host}`
      const found = spotsOf(place, job, clientsOf(job))
      if (typeof found === 'string') {
        remarks.say(lines, `${scope} of ${job} is not held: ${found}`, where)
      } else if (!isWhole && support.kind === 'rules' && !support.hasOpcode) {
        const needed = opcodePolicy(server.profile)
        remarks.say(lines, `${scope} of ${job} is not held: only rules with opcodes can, which need ${needed}`, where)
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
    const mine = spots.filter((s) => isOf(s, scope))
    // What stands on servers that cannot be changed now is spent already.
    const held = total(
      mine.filter((s) => s.isHeld),
      (s) => s.present ?? 0,
    )
    return {
      scope,
      lines,
      allocated: allocated ?? 0,
      free: mine.filter((s) => !s.isHeld),
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
    const whole = wholeRates(
      free.map((s, i) => ({ share: cut[i]!, classes: s.classes, cap: caps.get(s) ?? Infinity })),
      most,
      fences.floorRate,
    )
    free.forEach((s, i) => {
      rates.set(s, whole[i]!)
      caps.set(s, whole[i]! * s.classes)
    })
    const least = total(free, () => fences.floorRate)
    if (least > rate + 1e-6 && free.length > 0) {
      const text = `${scope} of ${job} cannot be held at ${figure(allocated)} op/s: its rules cannot go below ${least}, ${fences.floorRate} RPC/s for each class`
      remarks.say(lines, text)
    }
    sayShared(job, scope, lines, free, remarks)
  }
  saySmaller(job, shares, spots, remarks)
  const settled = isSteady ? settle(rates, limits) : rates
  let isSlowed = false
  const rules = spots.flatMap((s): CompiledRule[] => {
    const wanted = s.isHeld ? s.present : settled.get(s)
    if (wanted === undefined) return []
    const rate = s.isHeld ? wanted : rateWithin(wanted, fences, s.present, s.used)
    if (rate > wanted) isSlowed = true
    return [
      {
        ...{ host: s.host, service: s.service, name: s.name, conditions: s.conditions, rate, job, opcodes: s.opcodes },
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
    remarks.say(
      lines,
      `${job} is above its rate: a rule keeps ${part} % of its rate, or of what was served, at each step`,
    )
  }
  return rules
}

/**
 * Rates with those in force kept where the difference is small: all of them where every limit still holds, else only those
 * that would be raised.
 */
function settle(
  rates: ReadonlyMap<Spot, number>,
  limits: readonly { readonly free: readonly Spot[]; readonly rate: number }[],
): ReadonlyMap<Spot, number> {
  const isNear = (s: Spot, rate: number): boolean =>
    s.present !== undefined && Math.abs(rate - s.present) <= Math.max(1, DEADBAND * s.present)
  const kept = new Map([...rates].map(([s, rate]) => [s, isNear(s, rate) ? s.present! : rate]))
  const sums = (of: ReadonlyMap<Spot, number>, free: readonly Spot[]): number =>
    free.reduce((n, s) => n + of.get(s)! * s.classes, 0)
  const holds = limits.every((l) => sums(kept, l.free) <= Math.max(l.rate, sums(rates, l.free)) + 1e-6)
  if (holds) return kept
  return new Map([...rates].map(([s, rate]) => [s, isNear(s, rate) ? Math.min(rate, s.present!) : rate]))
}

function operationsOf({ opcodes, service }: Spot): string {
  if (opcodes.length === 0) return service === 'mdt' ? 'all of mdt' : 'all of mdt_readpage: close, readdir, getxattr'
  return opcodes.flatMap((o) => rpcOf(o)?.carries ?? []).join(', ')
}

/** Operations that travel with the ones that a policy is about. */
function sayShared(job: string, scope: Scope, lines: readonly number[], free: readonly Spot[], remarks: Remarks): void {
  const others = heldWith(scope)
  if (others.length === 0 || !free.some((s) => s.opcodes.length > 0)) return
  const by = MDS_SCOPES[scope].opcodes.join(' and ')
  remarks.say(lines, `${scope} of ${job} travels as ${by}, which also holds ${others.join(', ')}`)
}

/** Several policies on the same RPCs: the smaller rate holds all of them. */
function saySmaller(job: string, shares: readonly JobShare[], spots: readonly Spot[], remarks: Remarks): void {
  const opcodes = new Set(spots.flatMap((s) => s.opcodes))
  for (const opcode of opcodes) {
    const mine = shares.filter(({ scope }) => !MDS_SCOPES[scope].isWhole && MDS_SCOPES[scope].opcodes.includes(opcode))
    if (mine.length < 2) continue
    const names = mine.map((s) => s.scope).join(', ')
    const least = Math.min(...mine.map((s) => s.allocated ?? Infinity))
    const lines = [...new Set(mine.flatMap((s) => s.lines))]
    remarks.say(
      lines,
      `${names} of ${job} share ${opcode}: the smallest rate, ${figure(least)} op/s, holds them together`,
    )
  }
}

/** Every CPT takes the whole rate of a rule, so rules carry a part of it. */
function sayCpts(rules: readonly CompiledRule[], places: readonly ServicePlace[], remarks: Remarks): void {
  const hosts = new Set(rules.map((r) => r.host))
  for (const { server, support } of places) {
    if (support.kind === 'none' || support.isPerClient || support.cpts === 1 || !hosts.has(server.host)) continue
    remarks.say(
      [0],
      `rules carry 1/${support.cpts} of a rate, because each of ${support.cpts} CPTs takes it; a job whose clients all sit on one gets no more`,
      server.host,
    )
  }
}

const figure = (n: number): string => String(Math.round(n * 10) / 10)

/** The rules of one service of one server, as a plan takes them. */
export const desiredOn = (rules: readonly CompiledRule[], host: string, service: MdsService): DesiredRule[] =>
  rules
    .filter((r) => r.host === host && r.service === service)
    .map(({ name, conditions, rate }) => ({ name, conditions, rate }))
