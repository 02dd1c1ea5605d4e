/** A scenario as a variant wants it: what of it does not move during a run is set before the run begins. */
import type { Scenario } from '../emulator/scenario.ts'
import { LOCK_MANAGERS, type LockManagerName } from '../emulator/scenario-ccpfs.ts'
import type { Algorithm } from '../padll/algorithms/algorithm.ts'
import type { Variant } from './variant.ts'

/** Names of PADLL's algorithms here and in its own code. */
const ALGORITHM_OF: Readonly<Record<Exclude<NonNullable<Variant['metadata']>, 'off'>, Algorithm>> = {
  ...{ static: 'static', uniform: 'uniform', priority: 'priority' },
  ...{ proportional: 'psharing', psfa: 'psfa' },
}

export interface VariedScenario {
  readonly scenario: Scenario
  /** What of the variant finds nothing in the scenario to change. */
  readonly remarks: readonly string[]
}

/**
 * The scenario with the metadata algorithm, the lock manager and the data nodes of a variant. They hold for the whole run; only
 * the controller of the OSTs and the rules of a variant wait for its `onS`.
 *
 * `off` takes the stages from the jobs, and the rules of metadata from the servers. Data nodes without QoS are bare ones.
 */
export function variedScenario(scenario: Scenario, { metadata, locks, haechi }: Variant): VariedScenario {
  const remarks: string[] = []
  let varied = scenario
  if (metadata !== null) {
    if (!scenario.padll && !scenario.control.metadata) remarks.push(nothing(`metadata ${metadata}`, 'PADLL'))
    varied = withMetadata(varied, metadata)
  }
  if (locks !== null) {
    if (!scenario.ccpfs) remarks.push(nothing(`the lock manager ${locks}`, 'ccPFS'))
    else if (isManager(locks)) varied = { ...varied, ccpfs: { ...scenario.ccpfs, manager: locks } }
    else remarks.push(`no lock manager is called ${locks}: the scenario's is used`)
  }
  if (haechi === 'off') {
    if (scenario.haechi.length === 0) remarks.push(nothing('haechi off', 'data nodes'))
    varied = { ...varied, haechi: scenario.haechi.map((n) => ({ ...n, variant: 'bare' as const })) }
  }
  return { scenario: varied, remarks }
}

const nothing = (what: string, part: string): string => `${what} changes nothing: the scenario has no ${part}`
const isManager = (name: string): name is LockManagerName => (LOCK_MANAGERS as readonly string[]).includes(name)

function withMetadata(scenario: Scenario, metadata: NonNullable<Variant['metadata']>): Scenario {
  const { padll, control, jobs, ...rest } = scenario
  if (metadata === 'off') {
    const { metadata: _, ...others } = control
    return { ...rest, control: others, jobs: jobs.map(({ stages: __, ...j }) => j) }
  }
  const algorithm = ALGORITHM_OF[metadata]
  return {
    ...rest,
    ...{ jobs, control: control.metadata ? { ...control, metadata: { ...control.metadata, algorithm } } : control },
    ...(padll ? { padll: { ...padll, algorithm } } : {}),
  }
}
