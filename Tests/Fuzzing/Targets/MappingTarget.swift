import Foundation

@testable import Heartwood

/// A mapping model of Xcode, or an expression in a keyed archive if the first byte is zero.
enum MappingTarget {
  static func finding(_ bytes: [UInt8]) -> String? {
    do {
      if bytes.first == 0 {
        _ = try ArchivedText.mappingExpression(Data(bytes.dropFirst()))
      } else {
        var mapping = try XcodeMapping(Data(bytes), file: "xcmapping.xml")
        _ = try mapping.entityMappings { name in
          name == "Policy" ? EntityMigrationPolicy() : nil
        }
      }
      return nil
    } catch {
      return error.message.isEmpty ? "an error without a message" : nil
    }
  }

  /// An archive of `FUNCTION($manager, "f:", $source.a, {1, "b"})`, in the binary form.
  private static let archive =
    Data(
      base64Encoded:
        "YnBsaXN0MDDUAQIDBAUGBwpYJHZlcnNpb25ZJGFyY2hpdmVyVCR0b3BYJG9iamVjdHMSAAGGoF8QD05TS2V5ZWRBcmNoaXZlctEICVRyb290gBmvEBoLDBMWGRwfIiUmLS4wMTI3PEVGS0xOUldYXFUkbnVsbNINDg8QWiRjbGFzc25hbWVYJGNsYXNzZXNfEBlOU0NvbnN0YW50VmFsdWVFeHByZXNzaW9uow8RElxOU0V4cHJlc3Npb25YTlNPYmplY3TSDQ4UFV8QFE5TVmFyaWFibGVFeHByZXNzaW9uoxQREtINDhcYXxATTlNLZXlQYXRoRXhwcmVzc2lvbqMXERLSDQ4aG18QHE5TS2V5UGF0aFNwZWNpZmllckV4cHJlc3Npb26jGhES0g0OHR5fEBROU0Z1bmN0aW9uRXhwcmVzc2lvbqMdERLSDQ4gIV8QFU5TQWdncmVnYXRlRXhwcmVzc2lvbqMgERLSDQ4jJFdOU0FycmF5oiMSV21hbmFnZXLTJygpKissViRjbGFzc1pOU1ZhcmlhYmxlXxAQTlNFeHByZXNzaW9uVHlwZYACgAgQAlZzb3VyY2XTJygpKi8sgApfEBB2YWx1ZUZvcktleVBhdGg6UWHTJzMpNDU2WU5TS2V5UGF0aIAEgA0QCtInODk6Wk5TLm9iamVjdHOAB6E7gA7VJz0+PylAQUJDRFlOU09wZXJhbmReTlNTZWxlY3Rvck5hbWVbTlNBcmd1bWVudHOAA4ALgAyADxADEAHTJ0cpSElKXxAPTlNDb25zdGFudFZhbHVlgAGAERAAUWLTJ0cpSE1KgBPSJzg5T6JQUYASgBTTJ1MpVFVWXE5TQ29sbGVjdGlvboAGgBUQDlJmOtInODlZolpbgBCAFtUnPT4/KV1eX2BhgAWACYAXgBgQBAAIABEAGgAkACkAMgA3AEkATABRAFMAcAB2AHsAhgCPAKsArwC8AMUAygDhAOUA6gEAAQQBCQEoASwBMQFIAUwBUQFpAW0BcgF6AX0BhQGMAZMBngGxAbMBtQG3Ab4BxQHHAdoB3AHjAe0B7wHxAfMB+AIDAgUCBwIJAhQCHgItAjkCOwI9Aj8CQQJDAkUCTAJeAmACYgJkAmYCbQJvAnQCdwJ5AnsCggKPApECkwKVApgCnQKgAqICpAKvArECswK1ArcAAAAAAAACAQAAAAAAAABiAAAAAAAAAAAAAAAAAAACuQ=="
    ) ?? Data()

  static var seeds: [[UInt8]] {
    let xml = """
      <?xml version="1.0" standalone="yes"?>
      <database>
        <databaseInfo><version>134481920</version><UUID>6D6A86E3-4A5F-4E4D-93C7-3B1E5E0F7A11</UUID></databaseInfo>
        <object type="XDDEVATTRIBUTEMAPPING" id="z103"><attribute name="name" type="string">title</attribute>
          <attribute name="autogenerateexpression" type="bool">1</attribute></object>
        <object type="XDDEVATTRIBUTEMAPPING" id="z104"><attribute name="name" type="string">length</attribute>
          <attribute name="valueexpression" type="string">$source.pages * 2</attribute></object>
        <object type="XDDEVATTRIBUTEMAPPING" id="z106"><attribute name="name" type="string">code</attribute>
          <attribute name="valueexpressiondata" type="binary">\(archive.base64EncodedString())</attribute></object>
        <object type="XDDEVRELATIONSHIPMAPPING" id="z105"><attribute name="name" type="string">author</attribute>
          <attribute name="sourcemappingname" type="string">PersonToPerson</attribute></object>
        <object type="XDDEVENTITYMAPPING" id="z102"><attribute name="sourcename" type="string">Book</attribute>
          <attribute name="destinationname" type="string">Tome</attribute>
          <attribute name="sourcefilterpredicatestring" type="string">pages &gt; 1</attribute>
          <attribute name="migrationpolicyclassname" type="string">App.Policy</attribute>
          <attribute name="mappingnumber" type="int16">1</attribute>
          <attribute name="autogenerateexpression" type="bool">1</attribute>
          <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z103 z104 z106"></relationship>
          <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING" idrefs="z105"></relationship></object>
        <object type="XDDEVMAPPINGMODEL" id="z101"><attribute name="sourcemodelpath" type="string">A.xcdatamodel</attribute>
          <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
      </database>
      """
    return [[UInt8](xml.utf8), [0] + archive]
  }
}
