/** A node as lctl sees it. */
import type { Device } from '../../lustre/devices.ts'
import type { Profile } from '../../lustre/profile.ts'
import type { Nodemaps } from '../../tbf/nodemaps.ts'
import type { Parameter } from '../parameter.ts'

/** Who runs a command. Only root sees debugfs and writes; only root has /usr/sbin on its PATH (Debian). */
export interface NodeUser {
  readonly name: string
  readonly uid: number
  /** Entries of sudoers for it, all without a password; none where nothing is said. */
  readonly sudo?: readonly string[]
}

export const ROOT: NodeUser = { name: 'root', uid: 0 }

/** A line of `lctl dl`; its number is its place in the list. */
export type ObdDevice = Omit<Device, 'index'>

/** The permanent parameters of a file system, kept by its MGS: `set_param -P`. */
export interface ParamsLog {
  /** Stores a value unchecked and applies it everywhere some seconds later. */
  set(name: string, value: string): void
  delete(name: string): void
  /** As `set`, but in the log of the file system, as `conf_param` does. */
  configure(name: string, value: string): void
  /** What is stored, in the order of the log, with the number of each record. */
  records(): readonly { readonly index: number; readonly name: string; readonly value: string }[]
}

/** Lustre on a node. */
export interface LustreSide {
  /** As `lctl --version` and the parameter `version` print it. */
  readonly version: string
  /** The files as they are now; the same list, identity included, as long as none comes or goes. */
  readonly parameters: () => readonly Parameter[]
  /** Devices in the order of their numbers. */
  readonly devices?: () => readonly ObdDevice[]
  /** The node's own NIDs. */
  readonly nids?: readonly string[]
  /** Only on the MGS's node. */
  readonly paramsLog?: ParamsLog
  readonly nodemaps?: Nodemaps
  /** Whether the kernel modules are loaded; without them there is neither a file nor a device. */
  readonly isLoaded?: () => boolean
  /** Unix seconds at which the node's monotonic clock was 0. */
  readonly bootSeconds?: number
}

export interface LctlHost extends LustreSide {
  readonly profile: Profile
  readonly user: NodeUser
}

export const isRoot = (host: LctlHost): boolean => host.user.uid === 0
export const isLoaded = (host: LctlHost): boolean => host.isLoaded?.() ?? true
