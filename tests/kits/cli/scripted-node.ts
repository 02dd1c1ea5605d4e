/**
 * Lustre server with scripted answers, behind an SSH server in the test's process: root login, an lctl with texts for its
 * parameters, and no interactive shell.
 */
import type { ServerChannel } from 'ssh2'
import type { ExecResult } from '#electron/base/connection.ts'
import { existingKey, newKey, type LoginKey } from '#electron/emulate/keys.ts'
import { fingerprintOf } from '#electron/ssh/host-key.ts'
import { scriptedServer } from '#tests/kits/electron/ssh/scripted-server.ts'
import { tempFolder } from '../../node/temp-folder.ts'

export interface ScriptedNodeOptions {
  /** Output of `lctl get_param NAME` for each name as requested; other names do not exist. */
  readonly params: Readonly<Record<string, string>>
  /** Output of `lctl dl`. */
  readonly devices: string
}

export interface ScriptedNode {
  readonly port: number
  /** The authorized private key. */
  readonly key: string
  readonly fingerprint: string
  /** A line of known_hosts. */
  readonly known: string
  /** Number of keys offered so far. */
  logins(): number
  stop(): void
}

const said = (stdout: string, stderr = '', code = 0): ExecResult => ({ stdout, stderr, code })

function getParam(words: readonly string[], { params }: ScriptedNodeOptions): ExecResult {
  const isNamed = words[0] !== '-n'
  let stdout = ''
  let stderr = ''
  let code = 0
  for (const name of words.filter((w) => !w.startsWith('-')).map((w) => w.replaceAll("'", ''))) {
    const text = Object.hasOwn(params, name) ? params[name] : undefined
    if (text !== undefined) stdout += isNamed ? text : text.replace(/^[a-z_]*=/gm, '')
    else {
      stderr += `error: get_param: param_path '${name}': No such file or directory\n`
      code = 2
    }
  }
  return said(stdout, stderr, code)
}

function answer(command: string, o: ScriptedNodeOptions): ExecResult {
  const [program = '', ...words] = command.split(/\s+/)
  const [first] = words
  if (program === 'id') return said(first === '-u' ? '0\n' : 'root\n')
  if (program === 'hostname') return said('oss01\n')
  if (program === 'systemctl') return said('offline\n', '', 1)
  if (program === 'date') return said(`${(Date.now() / 1000).toFixed(3)}000000\n`)
  if (program === 'command') return words[1] === 'lctl' ? said('/usr/sbin/lctl\n') : said('', '', 1)
  if (program === 'lctl' && first === 'dl') return said(o.devices)
  if (program === 'lctl' && first === 'get_param') return getParam(words.slice(1), o)
  return said('', `sh: 1: ${program}: not found\n`, 127)
}

function run(line: string, o: ScriptedNodeOptions): ExecResult {
  const all = line.split(';').map((command) => answer(command.trim(), o))
  const text = (of: 'stdout' | 'stderr'): string => all.map((r) => r[of]).join('')
  return said(text('stdout'), text('stderr'), all.at(-1)?.code ?? 0)
}

/** A new key pair. */
export function keyPair(): LoginKey {
  const made = newKey(tempFolder())
  if (!made.ok) throw new Error(made.error.what)
  const key = existingKey(made.value.identity)
  if (!key.ok) throw new Error(key.error.what)
  return key.value
}

export async function scriptedNode(o: ScriptedNodeOptions): Promise<ScriptedNode> {
  const host = keyPair()
  const login = keyPair()
  const mine = fingerprintOf(login.publicKey.getPublicSSH())
  const server = await scriptedServer({
    hostKey: host.identity,
    accepts: (fingerprint) => fingerprint === mine,
    onExec: (command: string, channel: ServerChannel) => {
      const { stdout, stderr, code } = run(command, o)
      if (stderr !== '') channel.stderr.write(Buffer.from(stderr, 'latin1'))
      if (stdout !== '') channel.write(Buffer.from(stdout, 'latin1'))
      channel.exit(code)
      channel.end()
    },
  })
  const blob = host.publicKey.getPublicSSH()
  return {
    port: server.port,
    key: login.identity,
    fingerprint: fingerprintOf(blob),
    stop: () => server.stop(),
    known: `[127.0.0.1]:${server.port} ssh-ed25519 ${blob.toString('base64')}\n`,
    logins: () => server.requests.filter((r) => r.startsWith('auth publickey')).length,
  }
}
