CREATE TABLE audit (
	id INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	action TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE calling_sum (
	bucket INTEGER NOT NULL, 
	sum INTEGER NOT NULL, 
	CONSTRAINT pk_calling_sum PRIMARY KEY (bucket)
)
 STRICT;

CREATE TABLE library (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	scheme TEXT NOT NULL, 
	lines INTEGER NOT NULL, 
	checksum INTEGER NOT NULL, 
	CONSTRAINT pk_library PRIMARY KEY (id), 
	CONSTRAINT uq_library_name UNIQUE (name)
)
 STRICT;

CREATE TABLE name (
	id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	spelling TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	entries INTEGER NOT NULL, 
	CONSTRAINT pk_name PRIMARY KEY (id), 
	CONSTRAINT uq_name_digest UNIQUE (digest)
)
 STRICT;

CREATE TABLE root (
	id INTEGER NOT NULL, 
	libraries INTEGER NOT NULL, 
	audit BLOB NOT NULL, 
	CONSTRAINT pk_root PRIMARY KEY (id), 
	CONSTRAINT ck_root_one CHECK (id = 1)
)
 STRICT;

CREATE TABLE shape (
	id INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_shape PRIMARY KEY (id), 
	CONSTRAINT uq_shape_digest UNIQUE (digest)
)
 STRICT;

CREATE TABLE calling (
	word INTEGER NOT NULL, 
	name_id INTEGER NOT NULL, 
	CONSTRAINT pk_calling PRIMARY KEY (word, name_id), 
	CONSTRAINT fk_calling_name_id FOREIGN KEY(name_id) REFERENCES name (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE line (
	id INTEGER NOT NULL, 
	library_id INTEGER NOT NULL, 
	target TEXT NOT NULL, 
	profile TEXT NOT NULL, 
	releases INTEGER NOT NULL, 
	candidates INTEGER NOT NULL, 
	moves INTEGER NOT NULL, 
	scheme TEXT, 
	checksum INTEGER NOT NULL, 
	CONSTRAINT pk_line PRIMARY KEY (id), 
	CONSTRAINT uq_line_library_id_target_profile UNIQUE (library_id, target, profile), 
	CONSTRAINT fk_line_library_id FOREIGN KEY(library_id) REFERENCES library (id)
)
 STRICT;

CREATE TABLE baseline_move (
	id INTEGER NOT NULL, 
	line_id INTEGER NOT NULL, 
	channel TEXT NOT NULL, 
	version TEXT, 
	moved TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	digest BLOB, 
	checksum INTEGER NOT NULL, 
	CONSTRAINT pk_baseline_move PRIMARY KEY (id), 
	CONSTRAINT fk_baseline_move_line_id FOREIGN KEY(line_id) REFERENCES line (id)
)
 STRICT;

CREATE INDEX ix_baseline_move_line_id_channel ON baseline_move (line_id, channel);

CREATE TABLE entry (
	line_id INTEGER NOT NULL, 
	last_seq INTEGER NOT NULL, 
	facet INTEGER NOT NULL, 
	name_id INTEGER NOT NULL, 
	shape_id INTEGER NOT NULL, 
	first_seq INTEGER NOT NULL, 
	CONSTRAINT pk_entry PRIMARY KEY (line_id, last_seq, facet, name_id, shape_id), 
	CONSTRAINT ck_entry_interval CHECK (first_seq >= 1 AND first_seq <= last_seq), 
	CONSTRAINT fk_entry_line_id FOREIGN KEY(line_id) REFERENCES line (id), 
	CONSTRAINT fk_entry_name_id FOREIGN KEY(name_id) REFERENCES name (id), 
	CONSTRAINT fk_entry_shape_id FOREIGN KEY(shape_id) REFERENCES shape (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX ix_entry_name_id ON entry (name_id);

CREATE TABLE snapshot (
	id INTEGER NOT NULL, 
	line_id INTEGER NOT NULL, 
	sequence INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	superseded INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	sha256 TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	read_here INTEGER NOT NULL, 
	build_id TEXT, 
	soname TEXT, 
	exports INTEGER NOT NULL, 
	declarations INTEGER NOT NULL, 
	facets TEXT NOT NULL, 
	target TEXT NOT NULL, 
	provenance TEXT NOT NULL, 
	evidence TEXT NOT NULL, 
	revision TEXT, 
	url TEXT, 
	ingested TEXT NOT NULL, 
	released TEXT, 
	candidate INTEGER DEFAULT 0 NOT NULL, 
	members INTEGER NOT NULL, 
	places INTEGER, 
	checksum INTEGER NOT NULL, 
	CONSTRAINT pk_snapshot PRIMARY KEY (id), 
	CONSTRAINT uq_snapshot_line_id_sequence UNIQUE (line_id, sequence), 
	CONSTRAINT ck_snapshot_sequence CHECK (sequence >= 1), 
	CONSTRAINT ck_snapshot_superseded CHECK (superseded IN (0, 1)), 
	CONSTRAINT ck_snapshot_read_here CHECK (read_here IN (0, 1)), 
	CONSTRAINT fk_snapshot_line_id FOREIGN KEY(line_id) REFERENCES line (id)
)
 STRICT;

CREATE INDEX ix_snapshot_digest ON snapshot (digest);

CREATE INDEX ix_snapshot_sha256 ON snapshot (sha256);

CREATE INDEX ix_snapshot_size ON snapshot (size);

CREATE UNIQUE INDEX uq_snapshot_current_version ON snapshot (line_id, version, candidate) WHERE superseded = 0;

CREATE TABLE location (
	snapshot_id INTEGER NOT NULL, 
	body BLOB NOT NULL, 
	CONSTRAINT pk_location PRIMARY KEY (snapshot_id), 
	CONSTRAINT fk_location_snapshot_id FOREIGN KEY(snapshot_id) REFERENCES snapshot (id)
)
 STRICT;

CREATE TABLE verdict (
	id INTEGER NOT NULL, 
	old_id INTEGER NOT NULL, 
	new_id INTEGER NOT NULL, 
	policy TEXT NOT NULL, 
	policy_digest TEXT NOT NULL, 
	suppression_digest TEXT NOT NULL, 
	engine TEXT NOT NULL, 
	verdict INTEGER NOT NULL, 
	breaking INTEGER NOT NULL, 
	api_breaks INTEGER NOT NULL, 
	risk_changes INTEGER NOT NULL, 
	compatible INTEGER NOT NULL, 
	notices INTEGER NOT NULL, 
	suppressed INTEGER NOT NULL, 
	not_checked INTEGER NOT NULL, 
	added INTEGER NOT NULL, 
	removed INTEGER NOT NULL, 
	changed INTEGER NOT NULL, 
	judged TEXT NOT NULL, 
	parts INTEGER NOT NULL, 
	checksum INTEGER NOT NULL, 
	CONSTRAINT pk_verdict PRIMARY KEY (id), 
	CONSTRAINT fk_verdict_old_id FOREIGN KEY(old_id) REFERENCES snapshot (id), 
	CONSTRAINT fk_verdict_new_id FOREIGN KEY(new_id) REFERENCES snapshot (id)
)
 STRICT;

CREATE INDEX ix_verdict_new_id_old_id ON verdict (new_id, old_id);

CREATE TABLE finding (
	id INTEGER NOT NULL, 
	"key" BLOB NOT NULL, 
	verdict_id INTEGER NOT NULL, 
	body BLOB NOT NULL, 
	checksum INTEGER NOT NULL, 
	CONSTRAINT pk_finding PRIMARY KEY (id), 
	CONSTRAINT uq_finding_key UNIQUE ("key"), 
	CONSTRAINT fk_finding_verdict_id FOREIGN KEY(verdict_id) REFERENCES verdict (id)
)
 STRICT;

CREATE TABLE verdict_part (
	verdict_id INTEGER NOT NULL, 
	part TEXT NOT NULL, 
	body BLOB NOT NULL, 
	CONSTRAINT pk_verdict_part PRIMARY KEY (verdict_id, part), 
	CONSTRAINT fk_verdict_part_verdict_id FOREIGN KEY(verdict_id) REFERENCES verdict (id)
)
 STRICT;

CREATE TABLE consequence (
	identity BLOB NOT NULL, 
	finding_id INTEGER NOT NULL, 
	CONSTRAINT pk_consequence PRIMARY KEY (identity, finding_id), 
	CONSTRAINT fk_consequence_finding_id FOREIGN KEY(finding_id) REFERENCES finding (id)
)
 WITHOUT ROWID,
 STRICT;
