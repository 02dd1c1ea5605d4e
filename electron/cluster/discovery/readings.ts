/**
 * Readings of the console that use lctl as root, as sudoers has to allow them: exact arguments, no sudoers wildcards.
 * One line per parameter is enough, because a reading of several is then sent in parts; lines of several save the
 * server a sudo and an lctl each.
 */
import { LDLM_PARAMETERS } from '#core/lustre/ldlm-counters.ts'
import { isUserName } from '../../ssh/names.ts'
import { BRW_PARAMETERS, SERVICES, servicesOf, statsOf, timeoutsOf } from '../../base/service.ts'

const jobStats = [...new Set(Object.values(SERVICES).map((s) => s.jobStats))]
const services = Object.values(SERVICES).flatMap((s) => [s.policies, s.rules])
const paths = services.filter((name) => name.endsWith('.nrs_policies')).map((name) => name.replace('.nrs_policies', ''))

/** Parameters that are read one at a time or together. */
export const READ_PARAMETERS: readonly string[] = [
  'version',
  'health_check',
  'jobid_var',
  'jobid_name',
  'cpu_partition_table',
  ...services,
  ...paths.flatMap((p) => [`${p}.stats`, `${p}.timeouts`]),
  ...jobStats,
  'obdfilter.*.stats',
  'mdt.*.md_stats',
  ...BRW_PARAMETERS,
  ...LDLM_PARAMETERS,
  'mgs.MGS.live.*',
]

/** Arguments of lctl, one list per line of sudoers. */
export const READINGS: readonly (readonly string[])[] = [
  ['dl'],
  ['get_param', '-n', 'version'],
  ...READ_PARAMETERS.map((name) => ['get_param', name]),
  ...jobStats.map((name) => ['get_param', '-N', name]),
  ['get_param', 'jobid_var', 'jobid_name'],
  // Combinations read by a sample: those due of job_stats, of policies and rules, and of statistics.
  ...([['oss'], ['mds'], ['oss', 'mds']] as const).flatMap((roles) => {
    const services = servicesOf(roles)
    const jobs = services.filter((s) => s.isFirst).map((s) => s.jobStats)
    const rules = services.flatMap((s) => [s.policies, s.rules])
    const stats = services.map(statsOf)
    return [[...jobs, ...rules], [...jobs, ...rules, ...stats], rules, [...rules, ...stats]].map((names) => [
      'get_param',
      ...names,
    ])
  }),
  ['get_param', ...LDLM_PARAMETERS],
  ['get_param', ...BRW_PARAMETERS],
  [
    'get_param',
    ...servicesOf(['oss', 'mds'])
      .filter((s) => s.isFirst)
      .map(timeoutsOf),
  ],
]

/** Arguments in sudoers syntax: its wildcards and separators are literal here. */
export const sudoersArgs = (args: readonly string[]): string => args.join(' ').replace(/[\\,:=*?[\]]/g, '\\$&')

/** Lines of sudoers that allow a login to read; the sample in resources/sudoers has the same. */
export function sudoersToRead(user: string, lctl: string): string {
  const name = isUserName(user) ? user : 'LOGIN'
  const commands = READINGS.map((args) => `    ${lctl} ${sudoersArgs(args)}`)
  return `Cmnd_Alias SLUICE_READ = \\\n${commands.join(', \\\n')}\n${name} ALL=(root) NOPASSWD: SLUICE_READ`
}
