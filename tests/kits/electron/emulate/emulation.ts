/** Emulation, in this process, of a small cluster whose job ids contain every byte. */
import { join } from 'node:path'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { scratch } from '../ssh/sshd.ts'
import { Emulation, type SudoKind } from '#electron/emulate/emulation.ts'
import { newKey, type LoginKey } from '#electron/emulate/keys.ts'
import { serveCluster, type SshCluster } from '#electron/emulate/ssh-cluster.ts'

/** Job ids of the maximum length that together contain every byte but NUL. */
export const ALL_BYTES: readonly string[] = Array.from({ length: 9 }, (_, i) =>
  String.fromCharCode(...Array.from({ length: 30 }, (_byte, k) => 1 + ((i * 30 + k) % 255))),
)

export const BYTES_YAML = `title: Bytes
cluster: bytes
clients: { count: 2 }
oss:
  - { name: oss01, osts: [{ name: b-OST0000, disk: { bandwidth_mb_s: 1000 } }] }
mds:
  - { name: mds01, mdts: [{ name: b-MDT0000 }] }
control: { max_rate: 100, mode: observe }
jobs:
${ALL_BYTES.map((id) => `  - { id: ${JSON.stringify(id).replace(/[\x7f-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`)}, clients: [1], op: write, size_kib: 64, total_rpcs: 2, pattern: { kind: continuous } }`).join('\n')}
`

export function bytesScenario(): Scenario {
  const scenario = parseScenario(BYTES_YAML)
  if (!scenario.ok) throw new Error(scenario.error.why)
  return scenario.value
}

export interface TestEmulation {
  readonly emulation: Emulation
  readonly key: LoginKey
  readonly cluster: SshCluster
  port(node: string): number
  stop(): void
}

/** Starts it, two virtual seconds in, and paused. */
export async function startEmulation(sudo: SudoKind = 'read'): Promise<TestEmulation> {
  const emulation = new Emulation(bytesScenario(), { speed: 0, sudo })
  emulation.source.emulator.sim.runUntil(2e9)
  const folder = scratch()
  const key = newKey(folder)
  if (!key.ok) throw new Error(key.error.what)
  const cluster = await serveCluster(emulation, { port: 0, key: key.value, user: 'root', folder })
  if (!cluster.ok) throw new Error(cluster.error.what)
  return {
    emulation,
    key: key.value,
    cluster: cluster.value,
    port: (name) => cluster.value.nodes.find((n) => n.name === name)?.port ?? 0,
    stop: () => cluster.value.stop(),
  }
}

export const scratchSocket = (): string => join(scratch(), 'emulator')
