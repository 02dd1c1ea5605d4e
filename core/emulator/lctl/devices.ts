/**
 * `lctl dl`: the devices of a node.
 *
 * Source: spec/lustre 6.9, measured A12, A14, B10.
 */
import { formatDevices } from '../../lustre/devices.ts'
import { errnoNumber, errnoText } from '../../lustre/errno.ts'
import { done, exitWith, type ExecResult } from '../exec.ts'
import { isLoaded, isRoot, type LctlHost } from './host.ts'

/** `lctl dl [-t]`. */
export function deviceList(host: LctlHost, args: readonly string[]): ExecResult {
  const unknown = args.find((a) => a !== '-t' && a !== '--target')
  if (unknown !== undefined) return exitWith(1, `lctl device_list: ${unknown} is not known to this emulated node\n`)
  const devices = (host.devices?.() ?? []).map((d, index) => ({ ...d, index }))
  const table = formatDevices(devices, { peers: args.length > 0 })
  if (host.profile.lctl.hasNetlink) {
    if (isLoaded(host)) return done(table)
    return exitWith(errnoNumber('ENOENT'), 'Writer error: failed to resolve Netlink family id\n')
  }
  const hint = 'hint: the kernel modules may not be loaded\n'
  if (!isLoaded(host)) return exitWith(0, `opening /dev/obd failed: ${errnoText('ENOENT')}\n${hint}`)
  if (isRoot(host)) return done(table)
  const denied = errnoText('EACCES')
  return exitWith(
    errnoNumber('EACCES'),
    `opening /dev/obd failed: ${denied}\n${hint}Error getting device list: ${denied}: check dmesg\n`,
  )
}
