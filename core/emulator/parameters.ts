/** The parameters of an emulated OSS: what `lctl` finds there. */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { parseJobId } from '../lustre/job-id.ts'
import { debugfsPath } from '../lustre/lctl.ts'
import type { EmulatedOss } from './oss.ts'
import type { Parameter } from './parameter.ts'

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
