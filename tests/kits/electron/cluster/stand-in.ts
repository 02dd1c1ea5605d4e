/**
 * Server behind a real sshd whose lctl, sudo, id and other programs are small scripts in a folder, with their answers in files.
 * Every call of lctl and sudo is recorded.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckStep } from '#core/api/clusters.ts'
import type { Session } from '#electron/ssh/session.ts'
import { SshNode } from '#electron/ssh/ssh-node.ts'
import { endpointOf, knowing, QUICK, sessionOf } from '../ssh/console.ts'
import { makeKey, publicHalf, scratch, startSshd, type Sshd } from '../ssh/sshd.ts'
import { discover } from '#electron/cluster/discovery/discover.ts'

export interface StandInOptions {
  /** 0 by default: root. */
  readonly uid?: number
  /** Output of `sudo -n -l`, or a script. Without either there is no sudo. */
  readonly sudoList?: string
  readonly sudo?: string
  /** Output of `lctl get_param NAME` for each name as requested; other names do not exist. */
  readonly params?: Readonly<Record<string, string>>
  /** Output of `lctl dl`; undefined: the modules are not loaded. */
  readonly devices?: string
  /** Scripts by name; null removes a program. */
  readonly programs?: Readonly<Record<string, string | null>>
  /** Command that sshd runs in place of any other; `$SSH_ORIGINAL_COMMAND` has the original. */
  readonly forced?: string
}

export interface StandIn {
  readonly sshd: Sshd
  readonly key: string
  readonly folder: string
  /** Calls of lctl and sudo, in order. */
  calls(): readonly string[]
  session(commandMs?: number): Session
}

/** File name of a parameter. */
const fileOf = (name: string): string => name.replace(/[^A-Za-z0-9.]/g, '_')

const LCTL = (folder: string): string => `#!/bin/sh
printf '%s\\n' "lctl $*" >>${folder}/calls
case $1 in
--version) echo 'lctl 2.15.8_dirty'; exit 0 ;;
dl)
  [ -f ${folder}/dl ] || { echo 'opening /dev/obd failed: No such file or directory' >&2; exit 0; }
  cat ${folder}/dl; exit 0 ;;
get_param) ;;
*) echo "not a reading: $*" >&2; exit 1 ;;
esac
shift
mode=
case $1 in -n|-N) mode=$1; shift ;; esac
code=0
for name in "$@"; do
  file=${folder}/params/$(printf %s "$name" | sed 's/[^A-Za-z0-9.]/_/g')
  if [ ! -f "$file" ]; then
    echo "error: get_param: param_path '$name': No such file or directory" >&2
    code=2
  elif [ "$mode" = -n ]; then sed 's/^[a-z_]*=//' "$file"
  elif [ "$mode" = -N ]; then sed -n 's/^\\([a-z]*\\.[^=]*\\)=.*/\\1/p' "$file"
  else cat "$file"
  fi
done
exit $code
`

/** Runs its arguments like root would, with the stand-in's path for lctl. */
const SUDO = (folder: string): string => `#!/bin/sh
printf '%s\\n' "sudo $*" >>${folder}/calls
[ "$1" = -n ] || exit 1
shift
if [ "$1" = -l ]; then cat ${folder}/sudo.list; exit 0; fi
case $1 in */lctl) shift; exec ${folder}/bin/lctl "$@" ;; esac
exec "$@"
`

const program = (file: string, text: string): void => {
  writeFileSync(file, text.startsWith('#!') ? text : `#!/bin/sh\n${text}\n`)
  chmodSync(file, 0o755)
}

export async function startStandIn(o: StandInOptions): Promise<StandIn> {
  const folder = scratch()
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  mkdirSync(join(folder, 'params'))
  const user = (o.uid ?? 0) === 0 ? 'root' : 'ops'
  program(join(bin, 'id'), `case $1 in -u) echo ${o.uid ?? 0} ;; -un) echo ${user} ;; esac`)
  program(join(bin, 'hostname'), 'echo oss01')
  program(join(bin, 'systemctl'), 'echo offline; exit 1')
  program(join(bin, 'lctl'), LCTL(folder))
  if (o.sudoList !== undefined) {
    writeFileSync(join(folder, 'sudo.list'), o.sudoList)
    program(join(bin, 'sudo'), SUDO(folder))
  }
  // The test machine may have its own sudo.
  else program(join(bin, 'sudo'), o.sudo ?? 'echo "sh: 1: sudo: not found" >&2; exit 127')
  for (const [name, value] of Object.entries(o.params ?? {}))
    writeFileSync(join(folder, 'params', fileOf(name)), value, 'latin1')
  if (o.devices !== undefined) writeFileSync(join(folder, 'dl'), o.devices)
  for (const [name, text] of Object.entries(o.programs ?? {})) {
    if (text === null) rmSync(join(bin, name))
    else program(join(bin, name), text)
  }
  // If programs are removed, those of the machine must not be found instead.
  const isBare = Object.values(o.programs ?? {}).includes(null)
  if (isBare) for (const name of ['sh', 'cat', 'sed', 'date']) symlinkSync(`/bin/${name}`, join(bin, name))
  const path = isBare ? bin : `${bin}:/usr/bin:/bin`
  if (o.forced !== undefined) program(join(folder, 'forced'), o.forced)
  const key = makeKey(join(folder, 'id'))
  const sshd = await startSshd({
    authorized: [publicHalf(key)],
    lines: [
      `SetEnv SHLVL=2 PATH=${path}`,
      ...(o.forced === undefined ? [] : [`ForceCommand ${join(folder, 'forced')}`]),
    ],
  })
  return {
    sshd,
    key,
    folder,
    calls: () =>
      existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : [],
    session: (commandMs) =>
      sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, [key]), {
        limits: commandMs === undefined ? QUICK : { ...QUICK, commandMs },
      }),
  }
}

export interface Looked {
  readonly found: Awaited<ReturnType<typeof discover>>
  readonly steps: readonly CheckStep[]
  /** Every version of the list. */
  readonly history: readonly (readonly CheckStep[])[]
  readonly step: (id: CheckStep['id']) => CheckStep
}

/** Connects and runs the checklist. */
export async function look(server: StandIn, o: { commandMs?: number; nowMs?: () => number } = {}): Promise<Looked> {
  const session = server.session(o.commandMs)
  const connected = await session.connect()
  if (!connected.ok) throw new Error(JSON.stringify(connected.error))
  const node = new SshNode('oss01', ['oss'], session)
  const history: (readonly CheckStep[])[] = []
  const found = await discover(
    (c) => node.exec(c),
    'oss01',
    (steps) => void history.push(steps),
    o.nowMs,
  )
  const steps = history.at(-1) ?? []
  return { found, steps, history, step: (id) => steps.find((s) => s.id === id) as CheckStep }
}
