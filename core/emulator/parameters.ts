/** The parameters and programs that emulated nodes answer with: what `lctl` and `squeue` find there. */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { parseJobId } from '../lustre/job-id.ts'
import { debugfsPath } from '../lustre/lctl.ts'
import type { EmulatedCluster } from './cluster.ts'
import type { Program } from './node.ts'
import type { EmulatedOss } from './oss.ts'

export interface Parameter {
  readonly name: string
  /** Path that lctl names in its errors. */
  readonly path: string
  /** Tree it lives in: lctl prints /proc before /sys before debugfs. */
  readonly tree: 'proc' | 'sysfs' | 'debugfs'
  readonly read: () => Result<string, Errno>
  readonly write?: (value: string) => Result<undefined, Errno>
}

const sysfs = (name: string, value: string): Parameter => ({
  name,
  path: `/sys/fs/lustre/${name.replaceAll('.', '/')}`,
  tree: 'sysfs',
  read: () => ok(value),
})

/** Parameters of an OSS: its version, its targets' job_stats, and the scheduler of ost_io. */
export function ossParameters(oss: EmulatedOss): Parameter[] {
  const changed = (r: Result<undefined, Errno>): Result<undefined, Errno> => {
    oss.kick()
    return r
  }
  const nrs = (
    attribute: string,
    read: Parameter['read'],
    write: (v: string) => Result<undefined, Errno>,
  ): Parameter => {
    const name = `ost.OSS.ost_io.${attribute}`
    return { name, path: debugfsPath(name), tree: 'debugfs', read, write: (v) => changed(write(v)) }
  }
  const cpts = Array.from({ length: oss.service.cpts }, (_, i) => `${i}\t: ${i}`).join('\n')
  return [
    ...oss.osts.map((ost): Parameter => {
      const name = `obdfilter.${ost.name}.job_stats`
      return {
        name,
        path: `/proc/fs/lustre/${name.replaceAll('.', '/')}`,
        tree: 'proc',
        read: () => ok(ost.jobStats.read()),
        write: (v) => (ost.jobStats.drop(parseJobId(v)) ? ok(undefined) : fail('EINVAL')),
      }
    }),
    sysfs('version', oss.version),
    sysfs('health_check', 'healthy'),
    sysfs('jobid_var', 'SLURM_JOB_ID'),
    sysfs('jobid_name', '%j.%e.u%u'),
    sysfs('cpu_partition_table', cpts),
    nrs(
      'nrs_policies',
      () => ok(oss.service.readPolicies()),
      (v) => oss.service.writePolicies(v),
    ),
    nrs(
      'nrs_tbf_rule',
      () => oss.service.readRules(),
      (v) => oss.service.writeRule(v),
    ),
  ]
}

/** Fields of `squeue -o` that the emulated resource manager knows. */
const SQUEUE_FIELDS = {
  A: (j) => j.id.split('.')[0] ?? j.id,
  D: (j) => String(new Set(j.clients).size),
  u: (j) => j.user,
  a: (j) => j.account,
  j: (j) => j.id.split('.').slice(1, -1).join('.') || j.id,
  T: () => 'RUNNING',
} satisfies Record<string, (j: EmulatedCluster['jobs'][number]['scenario']) => string>

/** `squeue`: jobs in the queue now, one line each in the format of -o. */
export function schedulerPrograms(cluster: EmulatedCluster): Record<string, Program> {
  return {
    squeue: (args) => {
      const at = args.findIndex((a) => a === '-o' || a === '--format')
      const format = at < 0 ? '%A %u %a %D %T' : (args[at + 1] ?? '')
      const jobs = cluster.jobs.filter((j) => cluster.isQueued(j)).map((j) => j.scenario)
      const line = (of: (field: string) => string): string => format.replace(/%([A-Za-z])/g, (_, f: string) => of(f))
      const head = args.includes('-h') ? [] : [line((f) => f)]
      const known = (f: string): f is keyof typeof SQUEUE_FIELDS => Object.hasOwn(SQUEUE_FIELDS, f)
      const rows = jobs.map((j) => line((f) => (known(f) ? SQUEUE_FIELDS[f](j) : '')))
      return { stdout: [...head, ...rows].map((l) => `${l}\n`).join(''), stderr: '', code: 0 }
    },
  }
}
