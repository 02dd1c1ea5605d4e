/** `sluice ccpfs run`: a program whose files below a prefix are those of ccPFS. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { formatFailure } from '#core/base/result.ts'
import { doorEnvironment, doorLibrary } from '../ccpfs/door-library.ts'
import { clientSocket } from '../ccpfs/places.ts'
import { privateSocket } from '../wire/private-socket.ts'
import { must, plain } from './output.ts'
import { runPreloaded } from './run-preloaded.ts'

interface RunFlags {
  readonly mount: string
  readonly socket: string
  readonly locks: 'refused' | 'local'
  readonly timeoutSeconds: number
  readonly cc: string
}

async function run(program: string, args: readonly string[], flags: RunFlags): Promise<void> {
  const { mount, socket, locks, timeoutSeconds } = flags
  const library = must(await doorLibrary({ cc: flags.cc }))
  const env = must(doorEnvironment({ library, mount, socket, locks, timeoutMs: timeoutSeconds * 1000 }), 2)
  // Does not stop the program: its other files are unaffected, and the daemon may start later.
  const found = privateSocket(socket)
  if (!found.ok) process.stderr.write(`sluice ccpfs: ${plain(formatFailure(found.error))}\n`)
  runPreloaded(program, args, env)
}

function seconds(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 3600) return Number(text)
  throw new InvalidArgumentError('A whole number from 1 to 3600.')
}

export function ccpfsRunCommand(): Command {
  return new Command('run')
    .description('run a program and its children with files of ccPFS below a prefix')
    .requiredOption('--mount <path>', 'absolute prefix of the paths of ccPFS; it need not exist')
    .option('--socket <path>', 'socket of the client daemon', clientSocket())
    .addOption(new Option('--locks <where>', 'locks by fcntl').choices(['refused', 'local']).default('refused'))
    .option('--timeout-seconds <n>', 'longest wait for an answer of the daemon, then EIO', seconds, 60)
    .option('--cc <program>', 'C compiler for the preload library', 'cc')
    .argument('<program>')
    .argument('[args...]')
    .passThroughOptions()
    .action((program: string, args: string[], flags: RunFlags) => run(program, args, flags))
}
