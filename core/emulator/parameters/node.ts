/**
 * Node-wide parameters: its version, job id settings, CPTs, and tunables shared by all parts of Lustre.
 *
 * Source: spec/lustre 4.5, 6.7, 6.9; measured A15, A21, A27, A31; lengths from the answers of running nodes.
 */
import { fail } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import { evenPartitions, formatCpuDistances, formatCpuPartitions } from '../../lustre/cpu-partitions.ts'
import type { Profile } from '../../lustre/profile.ts'
import { showsStart, statsTimes, type StatsTimes } from '../../lustre/stats-times.ts'
import type { Parameter } from '../parameter.ts'
import { atMin } from '../service-estimate.ts'
import { file, storedNumber, kernelNumber, line, text, written, type Place } from './file.ts'

/** Longest jobid_var, and longest jobid_name, bytes. */
const JOBID_VAR_MAX = 20
const JOBID_NAME_MAX = 32

export interface NodeOptions {
  readonly profile: Profile
  readonly version: string
  readonly cpts: number
  /** Number of CPUs over all CPTs. */
  readonly cpus?: number
  /** Unix seconds at virtual time 0, and virtual ns now. */
  readonly epochSeconds: number
  readonly clock: () => number
  readonly jobidVar?: string
  readonly jobidName?: string
}

/** State shared by the parameters of a node. */
export class NodeState {
  readonly profile: Profile
  readonly version: string
  readonly cpts: number
  readonly cpus: number
  readonly clock: () => number
  readonly #epochSeconds: number
  readonly #onStatsHeader: ((shown: boolean) => void)[] = []
  #statsHeader = 1
  jobidVar: string
  jobidName: string

  constructor(options: NodeOptions) {
    this.profile = options.profile
    this.version = options.version
    this.cpts = options.cpts
    this.cpus = options.cpus ?? options.cpts
    this.clock = options.clock
    this.#epochSeconds = options.epochSeconds
    this.jobidVar = options.jobidVar ?? 'disable'
    this.jobidName = options.jobidName ?? '%e.%u'
  }

  /** Tree of a file that moved from /proc to debugfs in later releases, and from debugfs to sysfs. */
  get procThenDebugfs(): Place {
    return this.profile.text.isOldLayout ? 'proc' : 'debugfs'
  }

  get debugfsThenSysfs(): Place {
    return this.profile.text.isOldLayout ? 'debugfs' : 'sysfs'
  }

  /** Value of enable_stats_header. */
  get statsHeader(): number {
    return this.#statsHeader
  }

  set statsHeader(value: number) {
    this.#statsHeader = value
    for (const listener of this.#onStatsHeader) listener(this.showsStart)
  }

  /** True while tables show start_time and elapsed_time. */
  get showsStart(): boolean {
    return showsStart(this.profile.text, this.#statsHeader !== 0)
  }

  /** Calls `listener` now and at each change with whether tables show start_time and elapsed_time. */
  onStatsHeader(listener: (shown: boolean) => void): void {
    this.#onStatsHeader.push(listener)
    listener(this.showsStart)
  }

  /** Timestamps of a table that counts since `startNs` and is read now. */
  times(startNs: number): StatsTimes {
    return statsTimes(this.#epochSeconds, this.clock(), this.showsStart ? startNs : undefined)
  }

  /** Unix seconds of a virtual time, rounded down. */
  unixSecondsAt(ns: number): number {
    return this.#epochSeconds + Math.floor(ns / NS_PER_S)
  }
}

const withoutNewline = (value: string): string => (value.endsWith('\n') ? value.slice(0, -1) : value)

/** Files of `jobid_var`, `jobid_name` and `jobid_this_session`. */
function jobIdFiles(node: NodeState): Parameter[] {
  let session = ''
  return [
    file(
      'sysfs',
      ['jobid_var'],
      line(
        () => node.jobidVar,
        (value) => {
          if (value === '' || value.length > JOBID_VAR_MAX) return fail('EINVAL')
          node.jobidVar = withoutNewline(value)
          return written
        },
      ),
    ),
    file(
      'sysfs',
      ['jobid_name'],
      line(
        () => node.jobidName,
        (value) => {
          if (value === '' || value.length > JOBID_NAME_MAX) return fail('EINVAL')
          // Without a format code it is not a name but a job id, which is removed from the cache of ids by pid.
          if (node.jobidVar !== 'nodelocal' && !value.includes('%')) return written
          node.jobidName = withoutNewline(value)
          return written
        },
      ),
    ),
    file('sysfs', ['jobid_this_session'], {
      read: () => (session === '' ? fail('ENOENT') : { ok: true, value: `${session}\n` }),
      write: (value) => {
        if (value.length > JOBID_NAME_MAX) return fail('EINVAL')
        session = withoutNewline(value)
        return written
      },
    }),
  ]
}

/** Adaptive timeout settings of every node. */
const adaptiveTimeouts = (profile: Profile): Readonly<Record<string, number>> => ({
  at_early_margin: 5,
  at_extra: 30,
  at_history: 600,
  at_max: 600,
  at_min: atMin(profile),
  ldlm_timeout: 20,
  timeout: 100,
})

/** Parameters of every node with Lustre. */
export function nodeParameters(node: NodeState): Parameter[] {
  const partitions = formatCpuPartitions(evenPartitions(node.cpts, node.cpus))
  const files = [
    file(
      'sysfs',
      ['version'],
      line(() => node.version),
    ),
    file(
      'sysfs',
      ['health_check'],
      line(() => 'healthy'),
    ),
    ...jobIdFiles(node),
    file(
      'lnet',
      ['cpu_partition_distance'],
      text(() => formatCpuDistances(node.cpts)),
    ),
    file(
      'lnet',
      ['cpu_partition_table'],
      text(() => partitions),
    ),
    ...Object.entries(adaptiveTimeouts(node.profile)).map(([name, n]) => file('sysfs', [name], storedNumber(n))),
  ]
  if (node.profile.text.hasStatsHeaderSwitch) {
    files.push(
      file(
        'sysfs',
        ['enable_stats_header'],
        line(
          () => node.statsHeader,
          (value) => {
            const n = kernelNumber(value)
            if (n === undefined) return fail('EINVAL')
            node.statsHeader = n
            return written
          },
        ),
      ),
    )
  }
  return files
}
