/**
 * The `faults` section of a scenario: faults of disks, servers and network, and their durations.
 *
 * Faults of PADLL's controllers and of ccPFS clients are in their own sections.
 */
import * as z from 'zod'
import { hostName, targetName, positiveInteger } from './scenario-servers.ts'

const FAULTS_MAX = 200

const seconds = z.number().nonnegative().max(1e6)
const lasting = {
  at_s: seconds.describe('start'),
  for_s: z.number().positive().max(1e6).optional().describe('duration (default: permanent)'),
}
const factor = z.number().min(1).max(1e6).describe('slowdown factor; overlapping faults multiply')

const fault = z.discriminatedUnion('what', [
  z
    .strictObject({ what: z.literal('slow-disk'), target: targetName, factor, ...lasting })
    .describe('operations on the device of a target take longer'),
  z
    .strictObject({ what: z.literal('disk-stops'), target: targetName, ...lasting })
    .describe('the device of a target starts no operation; running ones complete'),
  z
    .strictObject({ what: z.literal('server-silent'), server: hostName, ...lasting })
    .describe('the shell of a server does not answer; RPCs are still served'),
  z
    .strictObject({
      what: z.literal('slow-network'),
      factor,
      clients: z.array(positiveInteger).min(1).max(10_000).optional().describe('client numbers (default: all)'),
      ...lasting,
    })
    .describe('reduced network bandwidth of clients'),
])

export const faults = z.array(fault).max(FAULTS_MAX).default([]).describe('faults of disks, servers and the network')

export type ScenarioFault = z.infer<typeof fault>

/** Rest of the scenario that the section is checked against. */
interface ScenarioContext {
  readonly faults: readonly ScenarioFault[]
  readonly oss: readonly { readonly name: string; readonly osts: readonly { readonly name: string }[] }[]
  readonly mds: readonly { readonly name: string; readonly mdts: readonly { readonly name: string }[] }[]
  readonly clients: { readonly count: number; readonly mounted_on: readonly string[] }
}

/** Checks that the subject of each fault exists. */
export function checkFaults(s: ScenarioContext, issue: (path: (string | number)[], message: string) => void): void {
  const targets = new Set([...s.oss.flatMap((o) => o.osts), ...s.mds.flatMap((m) => m.mdts)].map((t) => t.name))
  const servers = new Set([...s.oss, ...s.mds].map((x) => x.name))
  const last = s.clients.count + s.clients.mounted_on.length
  s.faults.forEach((f, i) => {
    if (f.what === 'server-silent') {
      if (!servers.has(f.server)) issue(['faults', i, 'server'], `no server is called ${f.server}`)
    } else if (f.what === 'slow-network') {
      f.clients?.forEach((c, k) => {
        if (c > last) issue(['faults', i, 'clients', k], `there are only ${last} clients`)
      })
    } else if (!targets.has(f.target)) issue(['faults', i, 'target'], `no target is called ${f.target}`)
  })
}
