/** The Lustre services whose rules the console reads and writes, and where their parameters are. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { NodeRole } from './connection.ts'

export interface Service {
  readonly name: ServiceName
  /** Role of the nodes that run it. */
  readonly role: NodeRole
  readonly policies: string
  readonly rules: string
  /** Whether it is the one that a role is named after: its readings carry the others of the role. */
  readonly isFirst: boolean
  /** job_stats of its targets, and how a target's name is read from the parameter. Services of one server share them. */
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

/** Parameter of a service's statistics: how long its requests waited. */
export const statsOf = ({ policies }: Service): string => policies.replace(/nrs_policies$/, 'stats')

/** Parameter of how long a service expects to take. */
export const timeoutsOf = ({ policies }: Service): string => policies.replace(/nrs_policies$/, 'timeouts')

/** Whether a value is of job_stats, the sum of a table that was cut down included. */
export const isJobStats = (name: string): boolean => name.endsWith('.job_stats') || name.endsWith('.job_stats.sum')

/** Services of a server with these roles, the first one of each role before its others. */
export const servicesOf = (roles: readonly NodeRole[]): readonly Service[] =>
  Object.values(SERVICES).filter((s) => roles.includes(s.role))

/** By what the rules of a service are kept: the server itself for data, since an OSS has one service. */
export const placeOf = (host: string, service: ServiceName): string =>
  service === 'ost_io' ? host : `${host}/${service}`
