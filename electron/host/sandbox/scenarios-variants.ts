/** Variants that make sense for a scenario: the baseline, then what an operator would try first. */
import { variant, VARIANTS_MAX, type MetadataAlgorithm, type Variant, type VariantInput } from '#core/api/sandbox.ts'
import { isMatchable } from '#core/control/desired-rule.ts'
import { ADAPTBF, definitionOf } from '#core/controllers/registry.ts'
import { isData } from '#core/emulator/operations.ts'
import { checkRules } from '#core/emulator/scenario-rules.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { wishes, type JobWish } from '#core/sandbox/demand.ts'

/** Servers take no rate above this. */
const RATE_MAX = 65_535

/** The largest by what it asks for of its kind, and beyond whom somebody else is left to gain from a cap. */
function largest(all: readonly JobWish[], part: (w: JobWish) => number): JobWish | undefined {
  const asking = all.filter((w) => part(w) > 0).sort((a, b) => part(b) * b.rpcs - part(a) * a.rpcs)
  return asking.length > 1 ? asking[0] : undefined
}

/** Whether every server of a service takes a rule beside those that stand. */
function isTaken(s: Scenario, service: 'ost_io' | 'mdt', line: string): boolean {
  let refused = false
  checkRules({ ...s, rules: [...s.rules, { service, line }] }, () => (refused = true))
  return !refused
}

/**
 * A cap on the largest job at its entitlement: its part of T by compute nodes among the jobs that read and write. A rule acts on
 * each CPT of a whole server, so the rate of a target is multiplied by those of the server and divided by its CPTs.
 */
function staticCap(s: Scenario, all: readonly JobWish[]): VariantInput | undefined {
  const hog = largest(all, (w) => w.data)
  if (!hog || !isMatchable(hog.job.id)) return undefined
  const nodes = all.filter((w) => w.job.op.some(isData)).reduce((n, w) => n + w.job.clients.length, 0)
  const share = hog.job.clients.length / nodes
  const [first] = s.oss
  if (!first) return undefined
  const perServer = (s.control.max_rate * share * first.osts.length) / first.cpts
  const rate = Math.min(RATE_MAX, Math.max(1, Math.round(perServer)))
  const line = `start sb_cap jobid={${hog.job.id}} rate=${rate}`
  if (!isTaken(s, 'ost_io', line)) return undefined
  return { name: 'Static cap', controller: 'none', rules: [{ service: 'ost_io', line }] }
}

/** The scenario's own algorithm, by the name that variants have for it. */
function algorithmOf({ padll, control }: Scenario): MetadataAlgorithm {
  const own = padll?.algorithm ?? control.metadata?.algorithm ?? 'psfa'
  return own === 'psharing' ? 'proportional' : own
}

function metadataCap(s: Scenario, all: readonly JobWish[]): VariantInput | undefined {
  if (s.mds.length === 0) return undefined
  if (s.padll ?? s.control.metadata) {
    return { name: 'Metadata cap', controller: 'none', metadata: algorithmOf(s) }
  }
  const hog = largest(all, (w) => 1 - w.data)
  if (!hog || !isMatchable(hog.job.id)) return undefined
  const rate = Math.min(RATE_MAX, Math.max(1, Math.round((hog.rpcs * (1 - hog.data)) / 2)))
  const line = `start sb_mcap jobid={${hog.job.id}} rate=${rate}`
  return isTaken(s, 'mdt', line)
    ? { name: 'Metadata cap', controller: 'none', rules: [{ service: 'mdt', line }] }
    : undefined
}

/** Whether anybody reads or writes enough for a controller of OSTs to have something to do. */
const hasData = (all: readonly JobWish[]): boolean => all.filter((w) => w.data > 0).length > 1

export function suggestedVariants(s: Scenario): Variant[] {
  const all = wishes(s)
  const { controller, mode } = s.control
  // A fork is held against what would happen anyway; a scenario against a cluster that nothing controls.
  const isControlled = s.fork !== undefined && controller !== 'none' && mode === 'enforce'
  const isPlanned = s.padll !== undefined || s.control.metadata !== undefined
  const asIs: VariantInput = isControlled ? { name: 'As it is', controller } : { name: 'Baseline', controller: 'none' }
  const out: VariantInput[] = [s.fork === undefined && isPlanned ? { ...asIs, metadata: 'off' } : asIs]
  const cap = hasData(all) ? staticCap(s, all) : undefined
  if (cap) out.push(cap)
  if (isControlled) out.push({ name: 'No control', controller: 'none' })
  if (hasData(all) && !(isControlled && controller === ADAPTBF))
    out.push({ name: definitionOf(ADAPTBF).title, controller: ADAPTBF })
  const metadata = metadataCap(s, all)
  if (metadata) out.push(metadata)
  // A fork is of Lustre: what it carries of the emulator's other planes is as it was, unless somebody asks for it.
  if (s.ccpfs && !s.fork) {
    const other = s.ccpfs.manager === 'lustre' ? 'seqdlm' : 'lustre'
    out.push({ name: other === 'lustre' ? 'Locks as Lustre' : 'SeqDLM', controller: 'none', locks: other })
  }
  if (!s.fork && s.haechi.some((n) => n.variant !== 'bare'))
    out.push({ name: 'No tokens', controller: 'none', haechi: 'off' })
  return out.slice(0, VARIANTS_MAX).map((v) => variant.parse(v))
}
