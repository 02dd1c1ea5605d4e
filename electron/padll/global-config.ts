/**
 * Configuration of the global controller, and of a local one: the public keys of spec/padll 7, and those of Sluice. One YAML file;
 * unknown keys are refused, because a typo would leave a limit out.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { ALGORITHMS, type Algorithm } from '#core/padll/algorithms/algorithm.ts'
import { RATE_MAX } from '#core/padll/console.ts'
import { DEFAULT_SETTINGS, settingsFault, type GlobalSettings } from '#core/padll/control/settings.ts'
import { parseHousekeepingFile } from '#core/padll/rules/housekeeping-yaml.ts'
import type { HousekeepingRule } from '#core/padll/rules/housekeeping.ts'
import type { RuleFault } from '#core/padll/rules/rule-fault.ts'
import { isScope, type Scope } from '#core/padll/vocabulary.ts'
import { parseAddress, type Address } from '#electron/wire/address.ts'
import type { SecretFiles } from '#electron/wire/peer-auth.ts'

const BYTES_MAX = 1 << 20
/** control_type of the public controller: static, proportional sharing, PSFA. */
const CONTROL_TYPES: Readonly<Record<number, Algorithm>> = { 1: 'static', 2: 'psharing', 3: 'psfa' }

const rate = z.number().min(1).max(RATE_MAX)
/** Files of the secret that controllers authenticate with. */
const secretFiles = {
  key_file: z.string().optional(),
  tls_ca: z.string().optional(),
  tls_cert: z.string().optional(),
  tls_key: z.string().optional(),
}
const globalFile = z.strictObject({
  ...secretFiles,
  controller: z.literal('core').optional(),
  core_address: z.string().optional(),
  control_type: z.number().int().min(1).max(3).optional(),
  system_limit: rate.optional(),
  housekeeping_rules_file: z.string().optional(),
  policies_rules_file: z.string().optional(),
  // Keys of Sluice.
  name: z.string().min(1).max(64).optional(),
  control_socket: z.string().optional(),
  state_file: z.string().optional(),
  algorithm: z.enum(ALGORITHMS).optional(),
  epsilon: z.number().min(0).max(1).optional(),
  split: z.enum(['equal', 'usage']).optional(),
  interval_ms: z.number().int().min(10).max(3_600_000).optional(),
  collect_rounds: z.number().int().min(1).max(60).optional(),
  slots: z.number().int().min(1).max(1_000_000).optional(),
  oversubscription: z.enum(['scale', 'allow']).optional(),
  leftover: z.enum(['equal', 'proportional']).optional(),
  suppress: z.number().min(0).max(0.5).optional(),
  lease_s: z.number().min(1).max(86_400).optional(),
  on_expiry: z.union([z.literal('hold'), rate]).optional(),
  limits: z.record(z.string(), rate).optional(),
})
const localFile = z.strictObject({
  ...secretFiles,
  controller: z.literal('local').optional(),
  core_address: z.string().optional(),
  local_address: z.string().optional(),
  name: z.string().min(1).max(64).optional(),
})

export interface GlobalConfig {
  readonly name: string | undefined
  readonly address: Address | undefined
  readonly secret: SecretFiles
  readonly controlSocket: string | undefined
  readonly stateFile: string | undefined
  readonly settings: Partial<GlobalSettings>
  readonly housekeeping: readonly HousekeepingRule[]
  readonly policies: string
  /** Hash of all files that were read. */
  readonly hash: string
}

export interface LocalConfig {
  readonly name: string | undefined
  readonly core: Address | undefined
  readonly secret: SecretFiles
  readonly socket: string | undefined
}

type SecretKeys = Readonly<Partial<Record<keyof typeof secretFiles, string | undefined>>>

/** Files of a secret, relative to the folder of the configuration. */
function secretOf(c: SecretKeys, beside: (name: string) => string): SecretFiles {
  const found = (name: string | undefined): string | undefined => (name === undefined ? undefined : beside(name))
  return { keyFile: found(c.key_file), tlsCa: found(c.tls_ca), tlsCert: found(c.tls_cert), tlsKey: found(c.tls_key) }
}

/** Upstream's usual layout: one channel for all metadata, unlimited until a controller sets a rate. */
export const USUAL_HOUSEKEEPING = `1 create_channel 1000 posix_meta 0 no_op meta_op
2 create_object 1000 1 posix_meta no_op meta_op drl 10000 1073741824
`

const failure = (file: string, why: string): Failure => ({
  code: 'CONFIG',
  what: `The configuration ${file} cannot be used`,
  why,
  next: 'Correct it, or name another file.',
})

function readText(file: string): Result<string> {
  try {
    const text = readFileSync(file, 'utf8')
    return text.length <= BYTES_MAX ? ok(text) : fail(failure(file, `it has more than ${BYTES_MAX} characters`))
  } catch (e) {
    return fail(failure(file, e instanceof Error ? e.message : String(e)))
  }
}

function readYaml<S extends z.ZodType>(file: string, schema: S): Result<{ text: string; value: z.infer<S> }> {
  const text = readText(file)
  if (!text.ok) return text
  let document: unknown
  try {
    document = parse(text.value, { maxAliasCount: 0 }) ?? {}
  } catch (e) {
    return fail(failure(file, e instanceof Error ? (e.message.split('\n')[0] ?? '') : String(e)))
  }
  const read = schema.safeParse(document)
  if (read.success) return ok({ text: text.value, value: read.data })
  const [issue] = read.error.issues
  const where = issue?.path.join('.') ?? ''
  return fail(failure(file, `${where === '' ? '' : `${where}: `}${issue?.message ?? ''}`))
}

const faultLine = (f: RuleFault): string => `line ${f.line}, column ${f.column}: ${f.message}`

/** Reads the configuration and the files that it names, relative to its folder. Without a file: that of an empty one. */
export function readGlobalConfig(file: string | undefined): Result<GlobalConfig> {
  const read = file === undefined ? ok({ text: '', value: globalFile.parse({}) }) : readYaml(file, globalFile)
  if (!read.ok) return read
  const c = read.value.value
  const beside = (name: string): string => resolve(dirname(file ?? '.'), name)
  const housekeepingText =
    c.housekeeping_rules_file === undefined ? ok(USUAL_HOUSEKEEPING) : readText(beside(c.housekeeping_rules_file))
  if (!housekeepingText.ok) return housekeepingText
  const housekeeping = parseHousekeepingFile(housekeepingText.value)
  const bad = housekeeping.faults.find((f) => f.severity === 'error')
  if (bad) return fail(failure(c.housekeeping_rules_file ?? '', faultLine(bad)))
  const policies = c.policies_rules_file === undefined ? ok('') : readText(beside(c.policies_rules_file))
  if (!policies.ok) return policies
  const address = c.core_address === undefined ? undefined : parseAddress(c.core_address)
  if (address && !address.ok) return fail(failure(file ?? '', `core_address: ${address.error.why ?? ''}`))
  const limits = limitsOf(c)
  if (!limits.ok) return fail(failure(file ?? '', limits.error))
  const settings = settingsOf(c, limits.value)
  const fault = settingsFault({ ...DEFAULT_SETTINGS, ...settings })
  if (fault) return fail(failure(file ?? '', fault.why))
  const hash = createHash('sha256')
  for (const part of [read.value.text, housekeepingText.value, policies.value]) hash.update(part).update('\0')
  return ok({
    name: c.name,
    address: address?.value,
    secret: secretOf(c, beside),
    controlSocket: c.control_socket === undefined ? undefined : beside(c.control_socket),
    stateFile: c.state_file === undefined ? undefined : beside(c.state_file),
    settings,
    housekeeping: housekeeping.rules,
    policies: policies.value,
    hash: hash.digest('hex'),
  })
}

type GlobalFile = z.infer<typeof globalFile>

/** `system_limit` applies to all metadata; `limits` to other scopes. */
function limitsOf(c: GlobalFile): Result<ReadonlyMap<Scope, number> | undefined, string> {
  const limits = new Map<Scope, number>()
  if (c.system_limit !== undefined) limits.set('meta_op', c.system_limit)
  for (const [scope, value] of Object.entries(c.limits ?? {})) {
    if (!isScope(scope)) return fail(`limits: ${scope.slice(0, 40)} is neither an operation nor a class`)
    limits.set(scope, value)
  }
  return ok(limits.size === 0 ? undefined : limits)
}

function settingsOf(c: GlobalFile, limits: ReadonlyMap<Scope, number> | undefined): Partial<GlobalSettings> {
  const algorithm = c.algorithm ?? (c.control_type === undefined ? undefined : CONTROL_TYPES[c.control_type])
  const hasLease = c.lease_s !== undefined || c.on_expiry !== undefined
  const onExpiry = typeof c.on_expiry === 'number' ? { rate: c.on_expiry } : ('hold' as const)
  return {
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(c.epsilon === undefined ? {} : { epsilon: c.epsilon }),
    ...(c.split === undefined ? {} : { split: c.split }),
    ...(c.interval_ms === undefined ? {} : { intervalNs: c.interval_ms * 1e6 }),
    ...(c.collect_rounds === undefined ? {} : { collectRounds: c.collect_rounds }),
    ...(c.slots === undefined ? {} : { slots: c.slots }),
    ...(c.oversubscription === undefined ? {} : { oversubscription: c.oversubscription }),
    ...(c.leftover === undefined ? {} : { leftover: c.leftover }),
    ...(c.suppress === undefined ? {} : { suppress: c.suppress }),
    ...(hasLease ? { lease: { ns: Math.round((c.lease_s ?? 10) * 1e9), onExpiry } } : {}),
    ...(limits === undefined ? {} : { limits }),
  }
}

export function readLocalConfig(file: string): Result<LocalConfig> {
  const read = readYaml(file, localFile)
  if (!read.ok) return read
  const c = read.value.value
  const core = c.core_address === undefined ? undefined : parseAddress(c.core_address)
  if (core && !core.ok) return fail(failure(file, `core_address: ${core.error.why ?? ''}`))
  const beside = (name: string): string => resolve(dirname(file), name)
  const socket = c.local_address === undefined ? undefined : beside(c.local_address)
  return ok({ name: c.name, core: core?.value, secret: secretOf(c, beside), socket })
}
