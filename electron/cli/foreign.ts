/** Files from other machines on the command line, validated in processes that end with the command. */
import { ForeignFiles } from '../foreign/foreign-files.ts'
import { openSource } from '../host/sources/open.ts'
import type { OpenRecording } from '../host/sources/recording.ts'
import { must } from './output.ts'

export async function withForeign<T>(use: (files: ForeignFiles) => Promise<T>): Promise<T> {
  const files = ForeignFiles.ofNode()
  try {
    return await use(files)
  } finally {
    files.close()
  }
}

/** Runs `use` on one cluster of a recording or a history, by default the newest. Ends the command if the file cannot be opened. */
export const withRecording = <T>(
  file: string,
  cluster: string | undefined,
  use: (recording: OpenRecording, foreign: ForeignFiles) => Promise<T>,
): Promise<T> =>
  withForeign(async (foreign) => {
    const recording = must(await openSource({ kind: 'recording', file, cluster, foreign }))
    try {
      return await use(recording, foreign)
    } finally {
      recording.close()
    }
  })
