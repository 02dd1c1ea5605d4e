/** Paths of one user's data node. */
import { join } from 'node:path'
import { runtimeFolder } from '../wire/private-socket.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Socket of the node for commands, in a folder that only its user can enter. */
export const haechiSocket = (env: Env = process.env, uid = process.getuid?.() ?? 0): string =>
  join(runtimeFolder('haechi', env, uid), 'control.socket')
