/**
 * Resolves a name of ~/.ssh/config: host, port, user, identities and jumps. The first value of a setting wins, as in
 * OpenSSH.
 *
 * The file is treated as a program that may come from someone else: only Host, HostName, User, Port, IdentityFile,
 * IdentitiesOnly, ProxyJump, UserKnownHostsFile and Include count. Settings that would run a command (Match exec,
 * ProxyCommand, KnownHostsCommand and the like) are reported and never run; settings that would weaken a session
 * (ForwardAgent, StrictHostKeyChecking no) are reported and not applied.
 */
import { isAbsolute, join } from 'node:path'
import { fail, ok } from '#core/base/result.ts'
import { expandHome, readConfig, type Ignored, type Setting } from './config-file.ts'
import type { SshResult } from './failures.ts'
import type { KnownHostsFile } from './known-hosts.ts'
import { isHostName, isUserName, parsePort } from './names.ts'
import { matchesList } from './patterns.ts'

/** Address, user and keys of one server. */
export interface SshEndpoint {
  /** Name to connect to, under which its host key must be known. */
  readonly host: string
  readonly port: number
  readonly user: string
  /** Private keys, or public halves of keys that the agent holds; absolute paths. */
  readonly identities: readonly string[]
  /** Offer only `identities`. */
  readonly identitiesOnly: boolean
  /** known_hosts files used in addition to those of the console. */
  readonly knownHosts: readonly KnownHostsFile[]
  /** Jump hosts, the first one first; each has none of its own. */
  readonly jumps: readonly SshEndpoint[]
}

export interface Resolved {
  readonly endpoint: SshEndpoint
  readonly ignored: readonly Ignored[]
}

export interface ConfigSettings {
  /** ~/.ssh/config, or another file; undefined: no file is read. */
  readonly file?: string | undefined
  readonly home: string
  /** Default user. */
  readonly user: string
}

/** Explicit settings; they override the file. */
export interface EndpointOverrides {
  readonly user?: string | undefined
  readonly port?: number | undefined
  readonly identity?: string | undefined
  /** `user@host:port`, comma-separated; null: none, whatever the file has. */
  readonly jump?: string | null | undefined
}

const IDENTITIES = 32
const JUMPS = 8
const DEFAULT_IDENTITIES = ['id_ed25519', 'id_ecdsa', 'id_rsa']

/** Settings without effect here that `ssh` would apply. */
const NOT_DONE: Readonly<Record<string, string>> = {
  proxycommand: 'it runs a command; use ProxyJump',
  knownhostscommand: 'it runs a command',
  localcommand: 'it runs a command',
  permitlocalcommand: 'it runs a command',
  remotecommand: 'it runs a command',
  xauthlocation: 'it runs a command',
  pkcs11provider: 'it loads a library',
  securitykeyprovider: 'it loads a library',
  canonicalizehostname: 'names are used as they are',
  hostkeyalias: 'a host is known by the name that is connected to',
  certificatefile: 'certificates are not supported',
  identityagent: 'the agent is that of SSH_AUTH_SOCK',
  forwardagent: 'nothing is ever forwarded',
  forwardx11: 'nothing is ever forwarded',
  localforward: 'nothing is ever forwarded',
  remoteforward: 'nothing is ever forwarded',
  dynamicforward: 'nothing is ever forwarded',
  stricthostkeychecking: 'host keys are always checked',
  updatehostkeys: 'known_hosts is never written',
  verifyhostkeydns: 'host keys are not looked up',
  globalknownhostsfile: 'the files of the console are used',
  passwordauthentication: 'passwords are never sent',
  ciphers: 'the algorithms are those of the console',
  macs: 'the algorithms are those of the console',
  kexalgorithms: 'the algorithms are those of the console',
  hostkeyalgorithms: 'the algorithms are those of the console',
}

/** Settings of the file for one name, before tokens are expanded. */
class Found {
  hostName: Setting | undefined
  user: Setting | undefined
  port: Setting | undefined
  identitiesOnly: Setting | undefined
  proxyJump: Setting | undefined
  userKnownHosts: Setting | undefined
  readonly identities: Setting[] = []
  readonly ignored: Ignored[] = []

  take(s: Setting): void {
    switch (s.keyword) {
      case 'hostname':
        this.hostName ??= s
        break
      case 'user':
        this.user ??= s
        break
      case 'port':
        this.port ??= s
        break
      case 'identitiesonly':
        this.identitiesOnly ??= s
        break
      case 'proxyjump':
        this.proxyJump ??= s
        break
      case 'userknownhostsfile':
        this.userKnownHosts ??= s
        break
      case 'identityfile':
        if (this.identities.length < IDENTITIES) this.identities.push(s)
        break
      default: {
        const why = Object.hasOwn(NOT_DONE, s.keyword) ? NOT_DONE[s.keyword] : undefined
        if (why !== undefined && !/^(no|none|ask|yes-strict)$/i.test(s.values[0] ?? '')) this.ignore(s, why)
        else if (s.keyword === 'stricthostkeychecking' && /^no$/i.test(s.values[0] ?? '')) this.ignore(s, why ?? '')
      }
    }
  }

  ignore(s: Setting, why: string): void {
    if (this.ignored.length < 200) this.ignored.push({ setting: s.keyword, where: s.where, why })
  }
}

function find(name: string, settings: ConfigSettings): Found {
  const found = new Found()
  if (settings.file === undefined) return found
  const place = { home: settings.home, note: (i: Ignored) => void found.ignored.push(i) }
  readConfig(settings.file, place, (s) => {
    if (s.keyword === 'host') return matchesList(s.values, name) === 'yes'
    if (s.keyword !== 'match') {
      found.take(s)
      return true
    }
    const values = s.values.map((w) => w.toLowerCase())
    if (values.length === 1 && values[0] === 'all') return true
    found.ignore(s, values.includes('exec') ? 'Match exec runs a command' : 'only `Match all` is understood')
    return false
  })
  return found
}

/** Expands `%` tokens; undefined if one of them is unknown or not safe here. */
function fill(text: string, tokens: Readonly<Record<string, string>>): string | undefined {
  let isKnown = true
  const filled = text.replace(/%(.?)/gs, (_, token: string) => {
    if (!Object.hasOwn(tokens, token)) isKnown = false
    return tokens[token] ?? ''
  })
  return isKnown ? filled : undefined
}

const refuse = (what: string, why: string): SshResult<never> => fail({ code: 'SSH_NAME', what, why })
const NAME_RULE = 'a name has letters, digits, dots, dashes and underscores only'

/** Resolves one server without its jumps; returns these as the file has them. */
function single(
  name: string,
  settings: ConfigSettings,
  over: EndpointOverrides,
): SshResult<{ endpoint: SshEndpoint; jump: string | undefined; ignored: readonly Ignored[] }> {
  if (!isHostName(name)) return refuse('The host name cannot be used', NAME_RULE)
  const found = find(name, settings)
  const host = found.hostName ? fill(found.hostName.values.join(' '), { '%': '%', h: name }) : name
  if (host === undefined || !isHostName(host)) {
    return refuse(`HostName of ${name} cannot be used`, `${NAME_RULE} (${found.hostName?.where ?? ''})`)
  }
  const user = over.user ?? found.user?.values.join(' ') ?? settings.user
  if (!isUserName(user)) return refuse(`The user of ${name} cannot be used`, NAME_RULE)
  const port = over.port ?? (found.port ? parsePort(found.port.values.join(' ')) : 22)
  if (port === undefined || parsePort(String(port)) === undefined) {
    return refuse(`The port of ${name} cannot be used`, 'it is a number from 1 to 65535')
  }
  const tokens = { '%': '%', d: settings.home, h: host, n: name, p: String(port), r: user, u: settings.user }
  const pathOf = (s: Setting, value: string): string | undefined => {
    const path = expandHome(fill(value, tokens) ?? '', settings.home)
    if (isAbsolute(path) && !path.includes('${') && !path.includes('\0')) return path
    found.ignore(s, 'it is not an absolute path, or has a token that is not expanded here')
    return undefined
  }
  const configured = found.identities.flatMap((s) => {
    const value = s.values.join(' ')
    return value.toLowerCase() === 'none' ? [] : [pathOf(s, value)].filter((p) => p !== undefined)
  })
  const named = over.identity === undefined ? configured : [over.identity, ...configured]
  const known = found.userKnownHosts
  const endpoint: SshEndpoint = {
    host,
    port,
    user,
    identities: named.length > 0 ? named : DEFAULT_IDENTITIES.map((f) => join(settings.home, '.ssh', f)),
    identitiesOnly: /^yes$/i.test(found.identitiesOnly?.values[0] ?? ''),
    knownHosts: (known?.values ?? []).flatMap((value) => {
      const path = known && !/^(none|\/dev\/null)$/.test(value) ? pathOf(known, value) : undefined
      return path === undefined ? [] : [{ path, isRequired: false }]
    }),
    jumps: [],
  }
  const jump = over.jump === null ? undefined : (over.jump ?? found.proxyJump?.values.join(' '))
  return ok({ endpoint, jump: jump?.toLowerCase() === 'none' ? undefined : jump, ignored: found.ignored })
}

interface JumpParts {
  readonly name: string
  readonly over: EndpointOverrides
}

/** Parses `[user@]host[:port]`, comma-separated. */
function parseJumps(text: string): readonly JumpParts[] | undefined {
  const jumps: JumpParts[] = []
  for (const part of text.split(',')) {
    const m = /^(?:ssh:\/\/)?(?:([^@:/]+)@)?([^@:/]+)(?::(\d+))?\/?$/.exec(part.trim())
    const port = m?.[3] === undefined ? undefined : parsePort(m[3])
    if (!m?.[2] || (m[3] !== undefined && port === undefined)) return undefined
    jumps.push({ name: m[2], over: { user: m[1], port } })
  }
  return jumps
}

/**
 * Resolves a name to its server.
 *
 * @param name  as in `ssh NAME`.
 * @returns     SSH_NAME if a name or a number cannot be used; SSH_CONFIG if jumps form a cycle or are too many.
 */
export function resolveEndpoint(
  name: string,
  settings: ConfigSettings,
  over: EndpointOverrides = {},
): SshResult<Resolved> {
  return resolve(name, settings, over, [])
}

function resolve(
  name: string,
  settings: ConfigSettings,
  over: EndpointOverrides,
  onTheWay: readonly string[],
): SshResult<Resolved> {
  const isolated = single(name, settings, over)
  if (!isolated.ok) return isolated
  const { endpoint, jump, ignored } = isolated.value
  if (jump === undefined) return ok({ endpoint, ignored })
  const circle = (why: string): SshResult<never> =>
    fail({ code: 'SSH_CONFIG', what: `The jumps to ${name} cannot be used`, why })
  const key = `${endpoint.user}@${endpoint.host}:${endpoint.port}`
  if (onTheWay.includes(key)) return circle('they form a cycle')
  const values = parseJumps(jump)
  if (!values) return circle('they are not of the form user@host:port, comma-separated')
  const jumps: SshEndpoint[] = []
  const all = [...ignored]
  for (const [i, step] of values.entries()) {
    // As in OpenSSH, only the first server of a list may have jumps of its own.
    const next = resolve(step.name, settings, i === 0 ? step.over : { ...step.over, jump: null }, [...onTheWay, key])
    if (!next.ok) return next
    jumps.push(...next.value.endpoint.jumps, { ...next.value.endpoint, jumps: [] })
    all.push(...next.value.ignored)
    if (jumps.length > JUMPS) return circle(`there are more than ${JUMPS}`)
    if (jumps.some((j) => `${j.user}@${j.host}:${j.port}` === key)) return circle('they form a cycle')
  }
  return ok({ endpoint: { ...endpoint, jumps }, ignored: all })
}
