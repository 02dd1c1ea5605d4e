/**
 * Answers of a server's systemd, systemd-run and sudo to the commands that Sluice sends: recorded from containers with real parts
 * (tests/recorded), compared with the emulated node in one test and with a container in another.
 *
 *     node tests/lab/systemd-answers.ts bookworm|trixie     # records them again
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { ExecResult } from '#electron/base/connection.ts'
import { endTimerCommand, listTimersCommand, makeTimerCommand } from '#electron/enforce/expiry.ts'
import type { TimerSpec } from '#electron/enforce/expiry-spec.ts'

const parameter = 'ost.OSS.ost_io.nrs_tbf_rule'
const one: TimerSpec = { unit: 'sluice-rec-a', seconds: 1800, stops: [{ parameter, queue: 'reg', name: 'sl_one' }] }
const two: TimerSpec = {
  unit: 'sluice-rec-b',
  seconds: 3600,
  stops: [
    { parameter, queue: 'both', name: 'sl_two' },
    { parameter: 'mds.MDS.mdt.nrs_tbf_rule', queue: 'hp', name: 'pd_0123456789' },
  ],
}
const short: TimerSpec = { unit: 'sluice-rec-c', seconds: 1, stops: [{ parameter, queue: 'reg', name: 'sl_short' }] }

const make = (t: TimerSpec): string => {
  const command = makeTimerCommand('systemd', t, { lctl: '/usr/sbin/lctl', sudo: false })
  if (!command.ok) throw new Error(command.error.why)
  return command.value
}
const end = (unit: string): string => {
  const command = endTimerCommand('systemd', unit)
  if (!command.ok) throw new Error(command.error.why)
  return command.value
}
const listed = listTimersCommand('systemd')
const LIST = listed.ok ? listed.value : ''
const HELPER = '/usr/local/sbin/sluice-rule'

export interface Asked {
  /** User: root, or the login that sudoers lets read and call the helper. */
  readonly as: 'root' | 'login'
  readonly command: string
  /** Seconds to wait before it. */
  readonly afterS?: number
}

const root = (command: string, afterS?: number): Asked => ({ as: 'root', command, ...(afterS ? { afterS } : {}) })
const login = (command: string): Asked => ({ as: 'login', command })

/** Commands in order: later ones depend on earlier ones. */
export const ASKED: readonly Asked[] = [
  root('systemctl is-system-running'),
  root('command -v systemd-run'),
  root(LIST),
  root(make(one)),
  root(make(one)),
  root(make(two)),
  root(LIST),
  root(LIST.replace(' --all', '')),
  login(LIST),
  root("systemctl show --property=Description 'sluice-*.timer'"),
  root("systemctl list-units --all --no-legend --plain 'sluice-*.timer'"),
  root("systemctl list-units --all --no-legend --plain 'sluice-*'"),
  root("systemctl list-timers --no-legend 'sluice-*'"),
  root('systemctl is-active sluice-rec-a.timer'),
  root('systemctl is-active sluice-rec-a.service'),
  login(make({ ...one, unit: 'sluice-rec-l' })),
  login(end('sluice-rec-a')),
  root(end('sluice-rec-a')),
  root(end('sluice-rec-a')),
  root('systemctl is-active sluice-rec-a.timer'),
  root(LIST),
  root("systemctl stop 'sluice-rec-*.timer' 'nosuch-*'"),
  root(make(short)),
  root(LIST, 4),
  root('systemd-run --on-active=soon --unit=sluice-rec-d true'),
  root('systemd-run --on-active=5s --unit=sluice-rec-d nosuchprogram'),
  root('systemd-run --frobnicate --on-active=5s --unit=sluice-rec-d true'),
  root('systemctl show nosuch.service --property=LoadState --value'),
  root('systemctl frobnicate'),
  login('sudo -n true'),
  login('sudo -n /usr/sbin/lctl get_param jobid_name'),
  login('sudo -n /usr/sbin/lctl set_param jobid_name=x'),
  login(`sudo -n ${HELPER} expire 1800 sluice-rec-h ${parameter} reg sl_help ${parameter} both sl_more`),
  login(`sudo -n ${HELPER} list`),
  root(LIST),
  login(`sudo -n ${HELPER} end sluice-rec-h`),
  login(`sudo -n ${HELPER} end sluice-rec-h`),
  login(`sudo -n ${HELPER} list`),
]

const recordSchema = z.object({
  systemd: z.string(),
  sudo: z.string(),
  answers: z.array(
    z.object({
      as: z.enum(['root', 'login']),
      command: z.string(),
      stdout: z.string(),
      stderr: z.string(),
      code: z.number(),
    }),
  ),
})
export type Recorded = z.infer<typeof recordSchema>
export const readRecorded = (text: string): Recorded => recordSchema.parse(JSON.parse(text))
export const recordedFile = (systemd: number): string =>
  join(import.meta.dirname, `../recorded/systemd-${systemd}.json`)

/** Removes values that change over time: times, and durations. */
const timeless = (text: string): string =>
  text
    .replace(/^\d+\.\d+ \d+\.\d+$/gm, 'UPTIME IDLE')
    .replace(/^(NextElapseUSecMonotonic=).+$/gm, '$1SPAN')
    .replace(/^(Description=sluice-rule \S+) \d+/gm, '$1 UPTIME')
    .replace(/^(timer \S+) \d+ /gm, '$1 UPTIME ')
    .replace(/sluice-rule (\S+) \d+ /g, 'sluice-rule $1 UPTIME ')
    .replace(/^\w{3} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w+ .*? - /gm, 'DATE LEFT - ')
    .replace(/ {2,}/g, ' ')

/** Sorts the blocks of `systemctl show` and the properties in each: their order differs between releases and runs. */
function ordered(text: string): string {
  if (!text.includes('\n\n') && !/^(?:Id|NextElapse\w+|ActiveState)=/m.test(text)) return text
  const [shown = '', rest = ''] = text.split(/(?=^UPTIME)/m)
  const blocks = shown
    .trimEnd()
    .split('\n\n')
    .map((b) => b.split('\n').sort().join('\n'))
  return `${blocks.sort().join('\n\n')}\n${rest}`
}

/** Removes differences between equivalent answers. */
export const comparable = ({ stdout, stderr, code }: ExecResult): ExecResult => ({
  stdout: ordered(timeless(stdout)),
  stderr: timeless(stderr),
  code,
})

/** Runs all commands in order. */
export async function askAll(
  ask: (asked: Asked) => Promise<ExecResult>,
  wait: (seconds: number) => Promise<void>,
): Promise<Recorded['answers']> {
  const answers: Recorded['answers'] = []
  for (const asked of ASKED) {
    if (asked.afterS) await wait(asked.afterS)
    const { stdout, stderr, code } = await ask(asked)
    answers.push({ as: asked.as, command: asked.command, stdout, stderr, code })
  }
  return answers
}

/** Command line of root that runs another one as the login. */
export function asLogin(name: string, command: string): string {
  return `setpriv --reuid=${name} --regid=${name} --init-groups env HOME=/home/${name} USER=${name} sh -c '${command.replaceAll("'", `'\\''`)}'`
}

if (process.argv[1] === import.meta.filename) {
  const { startLab } = await import('./lab.ts')
  const { LOGIN, SYSTEMD_OF } = await import('./nspawn.ts')
  const release = process.argv[2] === 'trixie' ? 'trixie' : 'bookworm'
  const lab = await startLab({ parts: 'nspawn', servers: ['oss01'], release, login: 'ops', sudo: 'write' })
  const version = async (line: string): Promise<string> => (await lab.exec('oss01', line)).stdout.split('\n')[0] ?? ''
  const answers = await askAll(
    ({ as, command }) => lab.exec('oss01', as === 'root' ? command : asLogin(LOGIN, command)),
    (seconds) => new Promise((done) => setTimeout(done, seconds * 1000)),
  )
  const record: Recorded = { systemd: await version('systemctl --version'), sudo: await version('sudo -V'), answers }
  writeFileSync(recordedFile(SYSTEMD_OF[release]), `${JSON.stringify(record, null, 2)}\n`)
  await lab.stop()
  process.exit()
}
