/**
 * Devices of a node: the list that `lctl dl` and the parameter `devices` print.
 *
 * Source: spec/lustre 6.9; reference counts follow from the answers of running nodes: a device has some of its own, one more
 * since 2.16, and a target two more for each export.
 */
import { shortHash } from '../../base/hash.ts'
import { formatDevices } from '../../lustre/devices.ts'
import type { ObdDevice } from '../lctl/host.ts'
import type { Parameter } from '../parameter.ts'
import { file, text } from './file.ts'
import type { NodeState } from './node.ts'

/** References of a device by itself, by type, in 2.15. */
const REFS: Readonly<Record<string, number>> = {
  lov: 3,
  lod: 3,
  mdd: 3,
  qmt: 3,
  mds: 2,
  ost: 2,
  obdfilter: 2,
  mdt: 2,
  mgs: 2,
}
const OTHER_REFS = 4
const REFS_PER_EXPORT = 2

export interface DeviceOptions {
  /** Exports of a target. */
  readonly exports?: number
  /** NID of its server, on a client device. */
  readonly peer?: string
}

/** Creates a device in state UP. */
export const device = (
  node: NodeState,
  type: string,
  name: string,
  uuid: string,
  { exports = 0, peer }: DeviceOptions = {},
): ObdDevice => ({
  status: 'UP',
  type,
  name,
  uuid,
  refs: (REFS[type] ?? OTHER_REFS) + REFS_PER_EXPORT * exports + (node.profile.text.devicesCountReader ? 1 : 0),
  ...(peer === undefined ? {} : { peer }),
})

/** Returns a UUID derived from a text. */
export function uuidOf(seed: string): string {
  const hex = [0, 1, 2, 3].map((i) => shortHash(`${seed}/${i}`).slice(2)).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

/** Parameter `devices`; reading it holds a reference to each device in the releases that count it. */
export const devicesParameter = (node: NodeState, devices: () => readonly ObdDevice[]): Parameter =>
  file(
    'debugfs',
    ['devices'],
    text(() =>
      formatDevices(
        devices().map((d, index) => ({ ...d, index })),
        { readers: node.profile.text.devicesCountReader ? 1 : 0 },
      ),
    ),
  )
