/**
 * The `faults` section of a scenario: faults of disks, servers and network, and their durations.
 *
 * Faults of PADLL's controllers and of ccPFS clients are in their own sections.
 */
import * as z from 'zod'
import { hostName, targetName, whole } from './scenario-servers.ts'

const FAULTS_MAX = 200

const seconds = z.number().nonnegative().max(1e6)
const lasting = {
  at_s: seconds.describe('when it begins'),
  for_s: z.number().positive().max(1e6).optional().describe('for so long; for good unless said'),
}
const factor = z.number().min(1).max(1e6).describe('so many times slower; faults that overlap multiply')

const fault = z.discriminatedUnion('what', [
  z
    .strictObject({ what: z.literal('slow-disk'), target: targetName, factor, ...lasting })
    .describe('every operation that the device of a target begins takes longer'),
  z
    .strictObject({ what: z.literal('disk-stops'), target: targetName, ...lasting })
    .describe('the device of a target begins nothing; what it had begun ends'),
  z
    .strictObject({ what: z.literal('server-silent'), server: hostName, ...lasting })
    .describe('a server answers no shell; it serves all the same'),
  z
    .strictObject({
      what: z.literal('slow-network'),
      factor,
      clients: z.array(whole).min(1).max(10_000).optional().describe('client numbers; all unless said'),
      ...lasting,
    })
    .describe('the ports of clients carry less'),
])

export const faults = z.array(fault).max(FAULTS_MAX).default([]).describe('what befalls disks, servers and network')

export type ScenarioFault = z.infer<typeof fault>

/** Rest of the scenario that the section is checked against. */
interface Around {
  readonly faults: readonly ScenarioFault[]
  readonly oss: readonly { readonly name: string; readonly osts: readonly { readonly name: string }[] }[]
  readonly mds: readonly { readonly name: string; readonly mdts: readonly { readonly name: string }[] }[]
  readonly clients: { readonly count: number; readonly mounted_on: readonly string[] }
}

/** Checks that the subject of each fault exists. */
export function checkFaults(s: Around, issue: (path: (string | number)[], message: string) => void): void {
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
