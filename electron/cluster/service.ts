/** The Lustre services whose rules the console reads and writes, and where their parameters are. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { NodeConnection } from './connection.ts'

export interface Service {
  readonly name: ServiceName
  /** Role of the nodes that run it. */
  readonly role: NodeConnection['role']
  readonly policies: string
  readonly rules: string
  /** job_stats of its targets, and how a target's name is read from the parameter. */
  readonly jobStats: string
  readonly target: RegExp
}

const service = (name: ServiceName, role: Service['role'], path: string, kind: string): Service => ({
  name,
  role,
  policies: `${path}.nrs_policies`,
  rules: `${path}.nrs_tbf_rule`,
  jobStats: `${kind}.*.job_stats`,
  target: new RegExp(`^${kind}\\.(.+)\\.job_stats$`),
})

/** Data RPCs on OSSes, and metadata RPCs on MDSes (close and readdir run on `mdt_readpage`, which is not read here). */
export const SERVICES: Readonly<Record<ServiceName, Service>> = {
  ost_io: service('ost_io', 'oss', 'ost.OSS.ost_io', 'obdfilter'),
  mdt: service('mdt', 'mds', 'mds.MDS.mdt', 'mdt'),
}
