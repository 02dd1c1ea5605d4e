/**
 * Scenario with the plane policies of a variant: metadata, locks and data nodes. They apply for the whole run; only the
 * controller of the OSTs and the rules of a variant wait for its `onS`.
 */
import { checkHaechi, type DataNodeScenario } from '../emulator/scenario-haechi.ts'
import { LOCK_MANAGERS, type CcpfsScenario, type LockManagerName } from '../emulator/scenario-ccpfs.ts'
import type { Scenario } from '../emulator/scenario.ts'
import type { Algorithm } from '../padll/algorithms/algorithm.ts'
import { isScope } from '../padll/vocabulary.ts'
import type { Variant } from './variant.ts'

/** Names of PADLL's algorithms here and in its own code. */
const ALGORITHM_OF: Readonly<Record<Exclude<NonNullable<Variant['metadata']>, 'off'>, Algorithm>> = {
  static: 'static',
  uniform: 'uniform',
  priority: 'priority',
  proportional: 'psharing',
  psfa: 'psfa',
  'psfa-adaptive': 'psfa-adaptive',
}

export interface VariedScenario {
  readonly scenario: Scenario
  /** Settings of the variant without an effect in the scenario. */
  readonly remarks: readonly string[]
}

type Remark = (text: string) => void

/** True if a variant sets a part of a plane's policy. */
export const changesMetadata = (v: Variant): boolean => v.metadata !== null || v.metadataLimits.length > 0
export const changesLocks = (v: Variant): boolean => v.locks !== null || Object.keys(v.lockOptions).length > 0
export const changesTokens = (v: Variant): boolean => v.haechi !== 'scenario' || Object.keys(v.tokens).length > 0

/** Returns the scenario under a variant's plane policies; settings that cannot apply are remarks. */
export function variedScenario(scenario: Scenario, variant: Variant): VariedScenario {
  const remarks: string[] = []
  const remark: Remark = (text) => void remarks.push(text)
  let varied = scenario
  if (changesMetadata(variant)) varied = withMetadata(varied, variant, remark)
  if (changesLocks(variant)) {
    const { ccpfs } = scenario
    if (!ccpfs) remark(noEffect(variant.locks === null ? 'lock options' : `the lock manager ${variant.locks}`, 'ccPFS'))
    else varied = { ...varied, ccpfs: withLocks(ccpfs, variant, remark) }
  }
  if (changesTokens(variant)) {
    if (scenario.haechi.length === 0) remark(noEffect(`haechi ${variant.haechi}`, 'data nodes'))
    varied = { ...varied, haechi: withTokens(scenario, variant, remark) }
  }
  return { scenario: varied, remarks }
}

const noEffect = (what: string, part: string): string => `${what} has no effect: the scenario has no ${part}`
const isManager = (name: string): name is LockManagerName => (LOCK_MANAGERS as readonly string[]).includes(name)

/** `off` removes the stages from the jobs, and the metadata rules from the servers. */
function withMetadata(scenario: Scenario, { metadata, metadataLimits }: Variant, remark: Remark): Scenario {
  const { padll, control, jobs, ...rest } = scenario
  if (!padll && !control.metadata) {
    remark(noEffect(metadata === null ? 'the system limit' : `metadata ${metadata}`, 'PADLL'))
    return scenario
  }
  if (metadata === 'off') {
    const { metadata: _, ...withoutMetadata } = control
    return { ...rest, control: withoutMetadata, jobs: jobs.map(({ stages: __, ...j }) => j) }
  }
  const algorithm = metadata === null ? {} : { algorithm: ALGORITHM_OF[metadata] }
  for (const { scope } of metadataLimits) {
    if (!isScope(scope)) remark(`unknown operation or class ${scope}: its limit is not applied`)
  }
  const limits = Object.fromEntries(metadataLimits.flatMap((l) => (isScope(l.scope) ? [[l.scope, l.rate]] : [])))
  return {
    ...rest,
    jobs,
    control: control.metadata
      ? {
          ...control,
          metadata: { ...control.metadata, ...algorithm, limits: { ...control.metadata.limits, ...limits } },
        }
      : control,
    ...(padll ? { padll: { ...padll, ...algorithm, system_limits: { ...padll.system_limits, ...limits } } } : {}),
  }
}

function withLocks(ccpfs: CcpfsScenario, { locks, lockOptions }: Variant, remark: Remark): CcpfsScenario {
  const isKnown = locks === null || isManager(locks)
  if (!isKnown) remark(`unknown lock manager ${locks}: the scenario's is used`)
  const { earlyGrant, earlyRevocation, conversion, expansion } = lockOptions
  return {
    ...ccpfs,
    manager: locks !== null && isManager(locks) ? locks : ccpfs.manager,
    options: {
      // Options of the scenario belong to its manager.
      ...(locks !== null && isKnown ? {} : ccpfs.options),
      ...(earlyGrant === undefined ? {} : { early_grant: earlyGrant }),
      ...(earlyRevocation === undefined ? {} : { early_revocation: earlyRevocation }),
      ...(conversion === undefined ? {} : { conversion }),
      ...(expansion === undefined ? {} : { expansion }),
    },
  }
}

const NODE_VARIANT = { off: 'bare', basic: 'basic', haechi: 'haechi' } as const

/** Data nodes under the token policy of a variant. Reservations beyond a node's capacity are not applied. */
function withTokens(
  { haechi, oss, mds }: Scenario,
  { haechi: mode, tokens }: Variant,
  remark: Remark,
): DataNodeScenario[] {
  const { preset, conversion, decay, estimator, reservations = [] } = tokens
  const changed = haechi.map((n): DataNodeScenario => ({
    ...n,
    ...(mode === 'scenario' ? {} : { variant: NODE_VARIANT[mode] }),
    ...(preset === undefined ? {} : { preset }),
    ...(conversion === undefined ? {} : { conversion }),
    ...(decay === undefined ? {} : { decay }),
    estimator: { ...n.estimator, ...estimator },
  }))
  for (const { node, client } of reservations) {
    if (!haechi.some((n) => n.name === node && n.clients.some((c) => c.name === client))) {
      remark(`no client ${client} on a data node ${node}: its reservation is not applied`)
    }
  }
  const reserved = changed.map((n): DataNodeScenario => ({
    ...n,
    clients: n.clients.map((c) => {
      const found = reservations.find((r) => r.node === n.name && r.client === c.name)
      return found ? { ...c, reservation: found.reservation } : c
    }),
  }))
  const faults: string[] = []
  checkHaechi({ haechi: reserved, oss, mds }, (_, message) => void faults.push(message))
  if (reservations.length === 0 || faults.length === 0) return reserved
  remark(`the reservations are not applied: ${faults[0] ?? ''}`)
  return changed
}
