/** Lustre services whose rules the console reads and writes, and their parameters. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { NodeRole } from './connection.ts'

export interface Service {
  readonly name: ServiceName
  /** Role of the nodes that run the service. */
  readonly role: NodeRole
  readonly policies: string
  readonly rules: string
  /** True for the main service of a role: its readings include the other services of the role. */
  readonly isFirst: boolean
  /** job_stats parameter of its targets, and the parser of a target's name. Services of one server share them. */
  readonly jobStats: string
  readonly target: RegExp
}

const service = (name: ServiceName, role: Service['role'], path: string, kind: string, isFirst = true): Service => ({
  name,
  isFirst,
  role,
  policies: `${path}.nrs_policies`,
  rules: `${path}.nrs_tbf_rule`,
  jobStats: `${kind}.*.job_stats`,
  target: new RegExp(`^${kind}\\.(.+)\\.job_stats$`),
})

/** Data RPCs on OSSes, and metadata RPCs on MDSes: close, readdir and getxattr run on `mdt_readpage`. */
export const SERVICES: Readonly<Record<ServiceName, Service>> = {
  ost_io: service('ost_io', 'oss', 'ost.OSS.ost_io', 'obdfilter'),
  mdt: service('mdt', 'mds', 'mds.MDS.mdt', 'mdt'),
  mdt_readpage: service('mdt_readpage', 'mds', 'mds.MDS.mdt_readpage', 'mdt', false),
}

/** Parameter with the statistics of a service, such as its request wait times. */
export const statsOf = ({ policies }: Service): string => policies.replace(/nrs_policies$/, 'stats')

/** Parameter with the service time estimates of a service. */
export const timeoutsOf = ({ policies }: Service): string => policies.replace(/nrs_policies$/, 'timeouts')

/** Locations of brw_stats: at the target, as in old releases, and at its disk (measured A16). */
export const BRW_PARAMETERS = ['obdfilter.*.brw_stats', 'osd-*.*.brw_stats'] as const

/** True for a job_stats parameter, including the sum of a truncated table. */
export const isJobStats = (name: string): boolean => name.endsWith('.job_stats') || name.endsWith('.job_stats.sum')

/** Services of a server with these roles, the main one of each role first. */
export const servicesOf = (roles: readonly NodeRole[]): readonly Service[] =>
  Object.values(SERVICES).filter((s) => roles.includes(s.role))

/** Key of a service's rules: for data the server name alone, since an OSS has one service. */
export const placeOf = (host: string, service: ServiceName): string =>
  service === 'ost_io' ? host : `${host}/${service}`
