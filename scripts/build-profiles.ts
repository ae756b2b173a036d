/**
 * Regenerates the seccomp profiles in profiles/. To take a newer default from Docker, put it into
 * profiles/docker/moby-default.json first: github.com/moby/profiles, seccomp/default.json.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DockerProfile, toOciProfile, widenDockerProfile } from './profiles/seccomp.ts'

const folder = join(import.meta.dirname, '../profiles')
const original = JSON.parse(readFileSync(join(folder, 'docker/moby-default.json'), 'utf8')) as DockerProfile
const widened = widenDockerProfile(original)
write('docker/seccomp.json', widened)
write('kubernetes/seccomp.json', toOciProfile(widened))

/** Indented like the original, so that the two can be compared line by line. */
function write(file: string, profile: unknown): void {
  writeFileSync(join(folder, file), `${JSON.stringify(profile, null, '\t')}\n`)
}
