/**
 * Rule support of one MDS service, and the number of classes that each get a rule's rate.
 *
 * Source: spec/lustre 2.1, 2.5: a rate is for each class on each CPT, and a class is one distinct key of the fields of
 * the TBF type. Opcode conditions beside job ids need a type with both: `jobid+opcode` where types can be combined
 * (2.17 and later), generic `tbf` in every release; there the client is part of the key, too, and sits on one CPT.
 */
import { typeOn } from '../../control/server-rules.ts'
import type { Queue } from '../../lustre/nrs-policies.ts'
import type { RuleLine } from '../../lustre/nrs-tbf-rule.ts'
import type { Profile } from '../../lustre/profile.ts'
import { MDS_RPCS, type MdsRpc, type MdsService } from './operations.ts'

/** Last reading of one service. */
export interface ServiceReading {
  /** Argument of the TBF that runs on each queue: empty for generic; undefined if TBF does not run. */
  readonly tbf: Readonly<Record<Queue, string | undefined>>
  /** Rules as printed, of every queue and CPT. */
  readonly rules: readonly RuleLine[]
}

export type RuleSupport =
  | { readonly kind: 'none'; readonly why: string }
  | {
      readonly kind: 'rules'
      /** True if rules can name opcodes; then every opcode of a job is a separate class. */
      readonly hasOpcode: boolean
      /** True if every client of a job is a separate class. */
      readonly isPerClient: boolean
      readonly cpts: number
      /** Largest rate, RPC/s. */
      readonly rateMax: number
    }

/** Returns the TBF policy that lets rules name a job and an opcode on a release. */
export const opcodePolicy = ({ rules }: Profile): string => (rules.hasCombinations ? 'tbf jobid+opcode' : 'tbf')

/** Returns the rules that a service takes now. */
export function ruleSupport(reading: ServiceReading, profile: Profile): RuleSupport {
  const type = typeOn({ tbf: reading.tbf, profile }, 'reg')
  if (!type) return { kind: 'none', why: 'TBF does not run there' }
  if (!type.fields.includes('jobid')) {
    return { kind: 'none', why: `rules of tbf ${type.fields.join('+')} cannot name a job` }
  }
  const cpts = reading.rules.reduce((n, r) => (r.queue === 'reg' ? Math.max(n, r.cpt + 1) : n), 1)
  const isPerClient = type.fields.includes('nid')
  return {
    kind: 'rules',
    hasOpcode: type.fields.includes('opcode'),
    isPerClient,
    cpts,
    rateMax: profile.rules.rateMax,
  }
}

/** Opcodes of a service, in groups of one rule each; opcodes without a counter form one group. */
export const OPCODE_GROUPS: Readonly<Record<MdsService, readonly (readonly MdsRpc[])[]>> = {
  mdt: groups('mdt'),
  mdt_readpage: groups('mdt_readpage'),
}

function groups(service: MdsService): MdsRpc[][] {
  const rpcs = MDS_RPCS.filter((r) => r.service === service)
  const counted = rpcs.filter((r) => r.counters.length > 0).map((r) => [r])
  const uncounted = rpcs.filter((r) => r.counters.length === 0)
  return uncounted.length > 0 ? [...counted, uncounted] : counted
}

/** True if job_stats of a release counts any of these RPCs: only the development line counts readdir. */
export const isCounted = (rpcs: readonly MdsRpc[], { text }: Profile): boolean =>
  rpcs.some((r) => r.counters.some((c) => text.jobStats.mdt.includes(c)))
