/** `sluice parse job_stats [FILE]`: converts a server's text into one JSON document in constant memory. */
import { closeSync, fstatSync, openSync, read } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { Argument, Command } from 'commander'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { JobStatsScanner } from '#core/lustre/job-stats-scanner.ts'
import { JobStatsJson } from './job-stats-json.ts'
import { stop } from './output.ts'

const readFile = promisify(read)
const STDIN = 0
const CHUNK = 65_536

// One buffer for all chunks: a stream allocates one per chunk, and a gigabyte of those is freed too late.
const buffer = Buffer.allocUnsafe(CHUNK)

/** Chunks of a file; each is valid until the next one is requested. */
async function* chunksOfFile(file: number): AsyncGenerator<Uint8Array, void, void> {
  try {
    for (;;) {
      const { bytesRead } = await readFile(file, buffer, 0, CHUNK, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    if (file !== STDIN) closeSync(file)
  }
}

/** Chunks of a pipe, which may be idle. */
async function* chunksOfPipe(fd: number): AsyncGenerator<Uint8Array, void, void> {
  let wake = (): void => undefined
  let length = 0
  let isEnded = false
  let fault: Error | undefined
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer,
      // Pauses the pipe until the chunk is consumed.
      callback: (bytes) => {
        length = bytes
        wake()
        return false
      },
    },
  })
  socket.on('error', (e) => ((fault = e), wake()))
  socket.on('close', () => ((isEnded = true), wake()))
  for (;;) {
    const came = new Promise<void>((resolve) => (wake = resolve))
    socket.resume()
    if (!isEnded) await came
    if (fault) throw fault
    if (length > 0) yield buffer.subarray(0, length)
    else if (isEnded) return
    length = 0
  }
}

function chunksOf(file: number): AsyncGenerator<Uint8Array, void, void> {
  const kind = fstatSync(file)
  return kind.isFIFO() || kind.isSocket() ? chunksOfPipe(file) : chunksOfFile(file)
}

/**
 * Writes to standard output and waits until the bytes are consumed, so that the buffer can be reused and a slow reader is waited
 * for.
 */
const write = (bytes: Uint8Array): Promise<unknown> => new Promise((resolve) => process.stdout.write(bytes, resolve))

const unreadable = (name: string, e: unknown): Failure => ({
  code: 'INPUT_UNREADABLE',
  what: `${name} cannot be read`,
  why: e instanceof Error ? e.message : undefined,
})

/**
 * Parses one input. If reading fails, the document ends with the entries read so far, and the failure reports that it is
 * incomplete.
 */
async function parseJobStats(name: string, file: number): Promise<Result<undefined>> {
  const json = new JobStatsJson()
  const scanner = new JobStatsScanner(json, { zeros: true })
  let isBegun = false
  try {
    for await (const chunk of chunksOf(file)) {
      isBegun = true
      scanner.push(chunk)
      await write(json.take())
    }
  } catch (e) {
    if (!isBegun) return fail(unreadable(name, e))
    scanner.end()
    json.end(scanner.skipped)
    await write(json.take())
    return fail({ ...unreadable(name, e), unaffected: 'The output contains the data read so far.' })
  }
  scanner.end()
  json.end(scanner.skipped)
  await write(json.take())
  return ok(undefined)
}

const HELP = `
Reads the raw file, or what lctl get_param prints of one or several targets (with names, -n or -H), of Lustre 2.12 and
later, OST or MDT. Writes {"targets":[{"target","param"?,"jobs":[{"job_id","snapshot_time","start_time"?,"elapsed_time"?,
"ops"}]}],"skipped":[{"line","reason"}],"skipped_more"}. "target" is null where the text does not name it.
Times are decimal strings in seconds; "snapshot_time" is null where there is none. Counters without samples are listed.
Numbers are exact to 64 bits: read them with care in a language that has only doubles. A job id that is valid UTF-8
is printed as text. Any other id is printed with one character (U+0000-U+00FF) per byte, and "job_id_bytes" has its bytes
in hex. Lines that cannot be read are listed in "skipped", the first 10,000 of them; the rest is counted.`

export function parseCommand(): Command {
  return new Command('parse')
    .description('convert text of a server to JSON')
    .addArgument(new Argument('<what>', 'kind of text').choices(['job_stats']))
    .argument('[file]', 'file (default, or -: standard input)')
    .addHelpText('after', HELP)
    .action(async (_what: string, name: string | undefined) => {
      // The data of a chunk is garbage at once; without this flag the young generation still grows to 48 MB.
      setFlagsFromString('--semi-space-growth-factor=1')
      const isFile = name !== undefined && name !== '-'
      let file = STDIN
      if (isFile) {
        try {
          file = openSync(name, 'r')
        } catch (e) {
          stop(unreadable(name, e))
        }
      }
      const parsed = await parseJobStats(isFile ? name : 'standard input', file)
      if (!parsed.ok) stop(parsed.error)
    })
}
