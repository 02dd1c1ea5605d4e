/** Form fields of a cluster, their validation and conversion. Pure. */
import {
  CONTROL_MAX_MS,
  CONTROL_MS,
  HELPER_ROLES,
  isHelperRole,
  OST_RATE_MAX,
  type ClusterInput,
  type HelperRole,
  type ProbeId,
  type SafeMode,
  type ServerInput,
} from '#core/api/clusters.ts'
import { expandHosts } from './host-ranges.ts'

/** Hosts beside the Lustre servers by their role; empty for none. */
export interface ClusterFields extends Readonly<Record<HelperRole, string>> {
  readonly name: string
  readonly env: ClusterInput['env']
  /** Hosts and ranges as typed. */
  readonly hosts: string
  readonly user: string
  readonly port: string
  readonly identity: string
  /** Empty: from ~/.ssh/config; `none`: direct. */
  readonly jump: string
  /** Seconds. */
  readonly interval: string
  /** Control period of a server, ms; empty: CONTROL_MS. */
  readonly control: string
  /** Token rate T of one OST, RPC/s; empty: unknown. */
  readonly maxRate: string
  readonly safeMode: SafeMode
  /** Kept as is: the form does not change it. */
  readonly allowRoot: boolean
  readonly off: readonly ProbeId[]
}
export type FieldName =
  'name' | 'hosts' | HelperRole | 'user' | 'port' | 'identity' | 'jump' | 'interval' | 'control' | 'maxRate'

/** Defaults of a new cluster: read-only, and PROD until changed. */
export const emptyFields: ClusterFields = {
  name: '',
  env: 'PROD',
  hosts: '',
  scheduler: '',
  controller: '',
  haechi: '',
  ccpfs: '',
  user: '',
  port: '',
  identity: '',
  jump: '',
  interval: '1',
  control: '',
  maxRate: '',
  safeMode: 'read-only',
  allowRoot: false,
  off: [],
}

/** Common value; empty if they differ. */
const shared = (values: readonly string[]): string => (new Set(values).size === 1 ? (values[0] ?? '') : '')
const jumpText = (jump: string | null): string => (jump === null ? '' : jump === '' ? 'none' : jump)

const helperRoles = Object.keys(HELPER_ROLES) as readonly HelperRole[]

/** Server as typed text: with login and port if they differ from the common ones. */
function hostText({ host, user, port }: ServerInput, common: { user: string; port: string }): string {
  const login = user === '' || user === common.user ? '' : `${user}@`
  return `${login}${host}${port === null || String(port) === common.port ? '' : `:${port}`}`
}

export function fieldsOf(input: ClusterInput): ClusterFields {
  const { servers } = input
  const user = shared(servers.map((s) => s.user))
  const port = shared(servers.map((s) => (s.port === null ? '' : String(s.port))))
  const textOf = (those: readonly ServerInput[]): string => those.map((s) => hostText(s, { user, port })).join(' ')
  const hostsOf = (role: HelperRole): string => textOf(servers.filter((s) => s.roles.includes(role)))
  return {
    name: input.name,
    env: input.env,
    safeMode: input.safeMode,
    allowRoot: input.allowRoot,
    off: input.off,
    hosts: textOf(servers.filter((s) => !s.roles.some(isHelperRole))),
    scheduler: hostsOf('scheduler'),
    controller: hostsOf('controller'),
    haechi: hostsOf('haechi'),
    ccpfs: hostsOf('ccpfs'),
    user,
    port,
    identity: shared(servers.map((s) => s.identity)),
    jump: shared(servers.map((s) => jumpText(s.jump))),
    interval: String(input.intervalMs / 1000),
    control: input.controlMs === undefined ? '' : String(input.controlMs),
    maxRate: input.maxRate === null ? '' : String(input.maxRate),
  }
}

const isBetween = (text: string, low: number, high: number, form = /^\d+$/): boolean =>
  form.test(text) && Number(text) >= low && Number(text) <= high

/** Fault of a token rate as typed; empty is none. */
export const rateFaultOf = (text: string): string | undefined =>
  text === '' || isBetween(text, 1, OST_RATE_MAX) ? undefined : `A whole number from 1 to ${OST_RATE_MAX}.`

/** @param names  names of the other clusters. */
export function faultsOf(fields: ClusterFields, names: readonly string[]): Partial<Record<FieldName, string>> {
  const found: Partial<Record<FieldName, string>> = {}
  const { name, hosts, user, port, interval, control, maxRate } = fields
  const listed = expandHosts(hosts)
  if (listed.fault !== '') found.hosts = listed.fault
  else if (listed.hosts.length === 0 && !helperRoles.some((r) => HELPER_ROLES[r].isSampled && fields[r].trim() !== ''))
    found.hosts = 'Enter at least one server.'
  for (const role of helperRoles) {
    const { hosts: those, fault } = expandHosts(fields[role])
    if (fault !== '' || (those.length > 1 && !HELPER_ROLES[role].isMany)) found[role] = fault || 'One host.'
  }
  if (name === '') found.name = 'Enter a name; it is typed again to confirm rule writes.'
  else if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name))
    found.name = 'Letters, digits, dots, dashes and underscores; the first one a letter or a digit; at most 63.'
  else if (names.includes(name)) found.name = `A cluster named ${name} already exists.`
  if (user !== '' && !/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(user)) found.user = 'Not a valid login name.'
  if (port !== '' && !isBetween(port, 1, 65535)) found.port = 'A port is a number from 1 to 65535.'
  if (!isBetween(interval, 0.1, 60, /^\d+(\.\d+)?$/)) found.interval = 'From 0.1 to 60 seconds.'
  if (control !== '' && !isBetween(control, CONTROL_MS, CONTROL_MAX_MS))
    found.control = `A whole number from ${CONTROL_MS} to ${CONTROL_MAX_MS}.`
  const rateFault = rateFaultOf(maxRate)
  if (rateFault !== undefined) found.maxRate = rateFault
  return found
}

/** Servers for the contract. An existing server keeps its own values, unless that field of the form was changed. */
export function serversOf(fields: ClusterFields, before: ClusterInput | null): ServerInput[] {
  const opened = before ? fieldsOf(before) : null
  const isKept = (key: 'user' | 'port' | 'identity' | 'jump'): boolean => opened !== null && opened[key] === fields[key]
  const common = {
    port: fields.port === '' ? null : Number(fields.port),
    user: fields.user,
    identity: fields.identity,
    jump: fields.jump === '' ? null : fields.jump.trim() === 'none' ? '' : fields.jump.trim(),
  }
  const helpers = helperRoles.map((role) => ({ role, named: expandHosts(fields[role]).named }))
  const named = new Map(
    [...expandHosts(fields.hosts).named, ...helpers.flatMap((h) => h.named)].map((n) => [n.label, n]),
  )
  return [...named.values()].map(({ label, host, user, port }) => {
    const given = helpers.filter((h) => h.named.some((n) => n.label === label)).map((h) => h.role)
    const own = before?.servers.find((s) => s.host === host && (port === null || s.port === port))
    const typed = { ...(user === '' ? {} : { user }), ...(port === null ? {} : { port }) }
    if (own === undefined) return { name: '', host, ...common, ...typed, roles: given }
    return {
      host,
      name: own.name,
      roles: [...own.roles.filter((role) => !isHelperRole(role)), ...given],
      port: isKept('port') ? own.port : common.port,
      user: isKept('user') ? own.user : common.user,
      identity: isKept('identity') ? own.identity : common.identity,
      jump: isKept('jump') ? own.jump : common.jump,
      ...typed,
    }
  })
}
/** Label of a server during a check. */
export const labelOf = ({ name, host, port }: ServerInput): string =>
  name !== '' ? name : port === null ? host : `${host}:${port}`

export const inputOf = (fields: ClusterFields, before: ClusterInput | null): ClusterInput => ({
  name: fields.name,
  env: fields.env,
  safeMode: fields.safeMode,
  allowRoot: fields.allowRoot,
  off: [...fields.off],
  servers: serversOf(fields, before),
  intervalMs: Math.round(Number(fields.interval) * 1000),
  ...(fields.control === '' ? {} : { controlMs: Number(fields.control) }),
  maxRate: fields.maxRate === '' ? null : Number(fields.maxRate),
  // Not in the form.
  ...(before?.coreShare === undefined ? {} : { coreShare: before.coreShare }),
})

/** Suggests a name from the common part of the hosts: `cetus-mgs` -> `cetus`. */
export function suggestedName(hosts: string): string {
  const first = expandHosts(hosts).hosts[0] ?? ''
  const m = /^([A-Za-z][A-Za-z0-9]*?)[-_.]/.exec(first)
  return m?.[1] ?? first.replace(/\d+$/, '')
}
