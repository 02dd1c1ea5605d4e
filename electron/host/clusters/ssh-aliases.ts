/** Names of ~/.ssh/config that stand for one host, for whoever adds a server. */
import * as z from 'zod'
import type { sshAliases } from '#core/api/clusters.ts'
import { readConfig } from '../../ssh/config-file.ts'
import type { SshAccess } from '../../cluster/live/ssh-access.ts'

const MOST = 500

export function aliasesOf(access: SshAccess): z.infer<typeof sshAliases> {
  const { file, home } = access.config
  if (file === undefined) return { file: '', fault: '', names: [] }
  const names = new Set<string>()
  let fault = ''
  const note = (ignored: { setting: string; where: string; why: string }): void => {
    if (ignored.setting === 'file') fault = `${ignored.where}: ${ignored.why}`
  }
  readConfig(file, { home, note }, (setting) => {
    if (setting.keyword !== 'host') return false
    for (const word of setting.words) if (!/[*?!]/.test(word) && names.size < MOST) names.add(word)
    return false
  })
  return {
    file,
    fault,
    names: [...names].flatMap((name) => {
      const at = access.resolve({ name: '', host: name, port: null, user: '', identity: '', jump: null, roles: [] })
      if (!at.ok) return []
      const { user, host, port } = at.value.endpoint
      return [{ name, address: `${user}@${host}${port === 22 ? '' : `:${port}`}` }]
    }),
  }
}
