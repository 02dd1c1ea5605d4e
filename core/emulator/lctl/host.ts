/** Interface of a node to lctl. */
import type { Device } from '../../lustre/devices.ts'
import type { Profile } from '../../lustre/profile.ts'
import type { Nodemaps } from '../../tbf/nodemaps.ts'
import type { Parameter } from '../parameter.ts'

/** User that runs a command. Only root sees debugfs and writes; only root has /usr/sbin on its PATH (Debian). */
export interface NodeUser {
  readonly name: string
  readonly uid: number
  /** The user's sudoers entries, all NOPASSWD. Default: none. */
  readonly sudo?: readonly string[]
}

export const ROOT: NodeUser = { name: 'root', uid: 0 }

/** A line of `lctl dl`; its number is its place in the list. */
export type ObdDevice = Omit<Device, 'index'>

/** Permanent parameters of a file system, kept by its MGS: `set_param -P`. */
export interface ParamsLog {
  /** Stores a value unchecked; it is applied on all nodes some seconds later. */
  set(name: string, value: string): void
  delete(name: string): void
  /** Stores a value as `set` does, but in the log of the file system, as `conf_param` does. */
  configure(name: string, value: string): void
  /** Stored records in log order, with their numbers. */
  records(): readonly { readonly index: number; readonly name: string; readonly value: string }[]
}

/** Lustre on a node. */
export interface LustreSide {
  /** Version as `lctl --version` and the parameter `version` print it. */
  readonly version: string
  /** Current files; the list keeps its identity until a file is added or removed. */
  readonly parameters: () => readonly Parameter[]
  /** Devices by number. */
  readonly devices?: () => readonly ObdDevice[]
  /** The node's own NIDs. */
  readonly nids?: readonly string[]
  /** Present on the MGS's node only. */
  readonly paramsLog?: ParamsLog
  readonly nodemaps?: Nodemaps
  /** False while the kernel modules are not loaded; then there are no files and no devices. */
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
