// For `GraphWork` and `PlainCompanies`, which are files of the tests of HeartwoodPostgres, too: those have classes of their own.
@_exported import GraphTestSupport
