/** Who the login is on a server, and what it may do as root there. */
import { LCTL_PATH, noScope, ROOT_SCOPE, type SudoScope } from '../remote/sudo-scope.ts'
import { ASKS_PASSWORD, parseSudoList, scopeOf, scopeOfRefusal } from './sudo-list.ts'
import { saidBy } from './checklist.ts'
import { ok, type Result } from '#core/base/result.ts'
import { parseVersion } from '#core/lustre/version.ts'
import type { ExecResult } from '../../base/connection.ts'
import type { DiscoveryFailure } from '../remote/facts.ts'
import type { Ask } from './find-lustre.ts'

export interface Login {
  readonly uid: number
  readonly user: string
  readonly hostname: string
}

/** `id -u; id -un; hostname`, with whatever a login script prints before it. */
export function parseLogin(text: string): Login | undefined {
  const lines = text
    .slice(0, 16_384)
    .split('\n')
    .map((l) => l.trim())
  for (let i = lines.length - 1; i >= 0; i--) {
    const [uid = '', user = '', hostname = ''] = lines.slice(i, i + 3)
    if (!/^\d{1,10}$/.test(uid) || !/^[^\s:]{1,64}$/.test(user)) continue
    return { uid: Number(uid), user, hostname: /^[A-Za-z0-9._-]{1,253}$/.test(hostname) ? hostname : '' }
  }
  return undefined
}

/** Why a shell that ran `id` did not say who it is. */
export function shellFault(r: ExecResult): { why: string; next: string } {
  const said = saidBy(r)
  if (/not available|nologin|no shell/i.test(said)) {
    return { why: `the login has no shell: ${said}`, next: 'Give the login /bin/sh, or use another one.' }
  }
  if (r.code === 127 || /not found|unknown command|illegal command/i.test(said)) {
    return { why: `its shell does not run programs: ${said}`, next: 'Give the login a POSIX shell (chsh -s /bin/sh).' }
  }
  const next = 'See what a login runs (ForceCommand, ~/.bashrc), and whether `ssh HOST id -u` prints a number.'
  return { why: `it answered: ${said}`, next }
}

/**
 * What sudo gives; one that does not tell is tried with one harmless reading.
 *
 * @param send  sends a line as it is written.
 */
export async function findScope(send: Ask, login: Login): Promise<Result<SudoScope, DiscoveryFailure>> {
  if (login.uid === 0) return ok(ROOT_SCOPE)
  const list = await send('sudo', 'sudo -n -l')
  if (!list.ok) return list
  const listed = list.value
  if (listed.code === 0) return ok(scopeOf(parseSudoList(listed.stdout)))
  const refused = scopeOfRefusal(listed.stdout, listed.stderr, listed.code)
  if (refused.text !== ASKS_PASSWORD) return ok(refused)
  // With listpw=always it asks for one to list, and yet for none to run.
  const tried = await send('sudo', `sudo -n ${LCTL_PATH} get_param -n version`)
  if (!tried.ok) return tried
  const { code, stdout } = tried.value
  const isRun = code === 0 && parseVersion(stdout.trim().split('\n').at(-1) ?? '') !== undefined
  if (!isRun) return ok(refused)
  return ok({ ...noScope('sudo runs lctl; it does not list what else (listpw)'), kind: 'read' })
}
