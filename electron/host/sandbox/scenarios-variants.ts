/** Suggested variants of a scenario: the baseline, then the obvious alternatives. */
import { variant, VARIANTS_MAX, type MetadataAlgorithm, type Variant, type VariantInput } from '#core/api/sandbox.ts'
import { isMatchable } from '#core/control/desired-rule.ts'
import { ADAPTBF, definitionOf } from '#core/controllers/registry.ts'
import { isData } from '#core/emulator/operations.ts'
import { checkRules } from '#core/emulator/scenario-rules.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { estimateDemands, type JobDemandEstimate } from '#core/sandbox/demand.ts'

/** Highest rate that servers accept. */
const RATE_MAX = 65_535

/** Job with the largest demand of one kind; undefined unless another job could gain from a cap on it. */
function largest(
  all: readonly JobDemandEstimate[],
  part: (w: JobDemandEstimate) => number,
): JobDemandEstimate | undefined {
  const demanding = all.filter((w) => part(w) > 0).sort((a, b) => part(b) * b.rpcs - part(a) * a.rpcs)
  return demanding.length > 1 ? demanding[0] : undefined
}

/** True if every server of a service accepts a rule in addition to the present ones. */
function isTaken(s: Scenario, service: 'ost_io' | 'mdt', line: string): boolean {
  let refused = false
  checkRules({ ...s, rules: [...s.rules, { service, line }] }, () => (refused = true))
  return !refused
}

/**
 * Cap on the largest job at its entitlement: its part of T by compute nodes among the jobs that read and write. A rule
 * acts on each CPT of a whole server, so the rate of a target is multiplied by the server's number of targets and
 * divided by its CPTs.
 */
function staticCap(s: Scenario, all: readonly JobDemandEstimate[]): VariantInput | undefined {
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

/** Algorithm of the scenario, by its variant name. */
function algorithmOf({ padll, control }: Scenario): MetadataAlgorithm {
  const algorithm = padll?.algorithm ?? control.metadata?.algorithm ?? 'psfa'
  return algorithm === 'psharing' ? 'proportional' : algorithm
}

function metadataCap(s: Scenario, all: readonly JobDemandEstimate[]): VariantInput | undefined {
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

/** True if enough jobs read or write for a controller of OSTs to matter. */
const hasData = (all: readonly JobDemandEstimate[]): boolean => all.filter((w) => w.data > 0).length > 1

export function suggestedVariants(s: Scenario): Variant[] {
  const all = estimateDemands(s)
  const { controller, mode } = s.control
  // A fork is compared with the expected course; a scenario with an uncontrolled cluster.
  const isControlled = s.fork !== undefined && controller !== 'none' && mode === 'enforce'
  const isPlanned = s.padll !== undefined || s.control.metadata !== undefined
  const asIs: VariantInput = isControlled ? { name: 'Unchanged', controller } : { name: 'Baseline', controller: 'none' }
  // One change each: without PADLL in the baseline, the others are without it, too.
  const metadata = s.fork === undefined && isPlanned ? { metadata: 'off' as const } : {}
  const out: VariantInput[] = [asIs]
  const cap = hasData(all) ? staticCap(s, all) : undefined
  if (cap) out.push(cap)
  if (isControlled) out.push({ name: 'No control', controller: 'none' })
  if (hasData(all) && !(isControlled && controller === ADAPTBF))
    out.push({ name: definitionOf(ADAPTBF).title, controller: ADAPTBF })
  const limited = metadataCap(s, all)
  if (limited) out.push(limited)
  // A fork covers Lustre: the emulator's other planes are unchanged unless requested.
  if (s.ccpfs && !s.fork) {
    const other = s.ccpfs.manager === 'lustre' ? 'seqdlm' : 'lustre'
    out.push({ name: other === 'lustre' ? 'Lustre locks' : 'SeqDLM', controller: 'none', locks: other })
  }
  if (!s.fork && s.haechi.some((n) => n.variant !== 'bare'))
    out.push({ name: 'No tokens', controller: 'none', haechi: 'off' })
  else if (!s.fork && s.haechi.length > 0) out.push({ name: 'Haechi', controller: 'none', haechi: 'haechi' })
  return out.slice(0, VARIANTS_MAX).map((v) => variant.parse({ ...metadata, ...v }))
}
