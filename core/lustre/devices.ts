/**
 * The devices of a node, as `lctl dl` and the parameter `devices` print them.
 *
 * Source: spec/lustre 6.9, measured A13 and A14.
 */
import type { ByteText, SkippedLine } from './text.ts'

/** UP, INactive, STopping, ATtached, or not set up. */
export type DeviceStatus = 'UP' | 'IN' | 'ST' | 'AT' | '--'

export interface Device {
  readonly index: number
  readonly status: DeviceStatus
  /** `obdfilter`, `osc`, `osd-ldiskfs`, ... */
  readonly type: string
  readonly name: string
  readonly uuid: string
  readonly refs: number
  /** NID of the server that a client device connects to; printed only by `lctl dl -t`. */
  readonly peer?: string | undefined
}

export interface DevicesLayout {
  /** True to print the NIDs of servers, as with `-t`. */
  readonly peers?: boolean
  /** References that the reading process holds to each device. */
  readonly readers?: number
}

/** Formats the list, one device per line. */
export const formatDevices = (devices: readonly Device[], layout: DevicesLayout = {}): string =>
  devices
    .map((d) => {
      const peer = layout.peers === true && d.peer !== undefined ? ` ${d.peer}` : ''
      const refs = d.refs + (layout.readers ?? 0)
      return `${String(d.index).padStart(3)} ${d.status} ${d.type} ${d.name} ${d.uuid} ${refs}${peer}\n`
    })
    .join('')

const LINE = /^ *(\d+) (UP|IN|ST|AT|--) (\S+) (\S+) (\S+) (\d+)(?: (\S+))?$/

/** Parses the list of any release, with or without NIDs; unreadable lines are reported and skipped. */
export function parseDevices(text: ByteText): {
  readonly devices: readonly Device[]
  readonly skipped: readonly SkippedLine[]
} {
  const devices: Device[] = []
  const skipped: SkippedLine[] = []
  text.split('\n').forEach((line, i) => {
    if (line === '') return
    const m = LINE.exec(line)
    if (!m) {
      skipped.push({ line: i + 1, reason: 'not a device' })
      return
    }
    const [, index, status, type = '', name = '', uuid = '', refs, peer] = m
    devices.push({
      index: Number(index),
      status: status as DeviceStatus,
      type,
      name,
      uuid,
      refs: Number(refs),
      peer,
    })
  })
  return { devices, skipped }
}
