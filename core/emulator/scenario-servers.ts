/** Servers of a scenario: object storage servers with their OSTs, and metadata servers with their MDTs. */
import * as z from 'zod'
import { parseVersion } from '../lustre/version.ts'
import { METADATA_OPERATIONS } from './operations.ts'

export const positive = z.number().positive()
export const positiveInteger = z.number().int().positive()
export const hostName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/, 'a host name')
export const targetName = z.string().regex(/^[\w-]{1,40}$/, 'a target name')
const microseconds = z.number().nonnegative().max(1e9)

export const nrsPolicy = z
  .string()
  .refine((p) => /^(fifo|tbf)( |$)/.test(p), 'expected fifo, or tbf with a type such as jobid or jobid+opcode')

/** Common fields of both kinds of servers. */
const server = {
  name: hostName,
  version: z
    .string()
    .default('2.17.57')
    .refine((v) => parseVersion(v) !== undefined, 'expected a Lustre version, such as 2.15.8')
    .describe('Lustre release'),
  cpts: positiveInteger.max(64).default(1),
  timer_latency_us: microseconds
    .max(1e6)
    .default(50)
    .describe('delay from the expiry of a TBF timer until a service thread wakes up; about 50 on real machines'),
}

const disk = z.strictObject({
  bandwidth_mb_s: positive.min(0.001).max(1e9).describe('sequential bandwidth, 10^6 bytes per second'),
  per_op_us: microseconds.default(50),
  channels: positiveInteger.max(1024).default(4),
})

export const oss = z.strictObject({
  ...server,
  policy: nrsPolicy.optional().describe('nrs_policies at the start (default: that of the scenario)'),
  threads: positiveInteger.max(4096).default(16).describe('ll_ost_io service threads'),
  osts: z.array(z.strictObject({ name: targetName, disk })).min(1),
})

const mdt = z.strictObject({
  name: targetName,
  per_op_us: microseconds.default(150).describe('time of one operation on the target'),
  op_us: z
    .partialRecord(z.enum(METADATA_OPERATIONS), microseconds)
    .default({})
    .describe('operations with another time'),
  channels: positiveInteger.max(1024).default(8).describe('concurrent operations'),
})

export const mds = z.strictObject({
  ...server,
  policy: nrsPolicy.optional().describe('nrs_policies of its services at the start (default: that of the scenario)'),
  threads: positiveInteger
    .max(4096)
    .default(16)
    .describe('service threads of mdt, and the same number of mdt_readpage'),
  mdts: z.array(mdt).min(1),
})
